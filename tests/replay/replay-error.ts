/** An error that ends a replay: a sentence that says what to do, and an exit code for scripts. */
export class ReplayFault extends Error {
  /** 1: refused or failed; 2: the command itself is wrong. */
  readonly exitCode: 1 | 2

  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence)
    this.name = 'ReplayFault'
    this.exitCode = exitCode
  }
}
