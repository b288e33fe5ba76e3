/** Mutants that change nothing that can be seen, each with why. */
import type { Mutant } from './mutations.ts'

interface Equivalent extends Pick<Mutant, 'file' | 'original' | 'replacement'> {
  readonly why: string
}

export const EQUIVALENTS: readonly Equivalent[] = []

/** Why a mutant changes nothing that can be seen; undefined for one that is to be killed. */
export const whyEquivalent = ({ file, original, replacement }: Mutant): string | undefined =>
  EQUIVALENTS.find((one) => one.file === file && one.original === original && one.replacement === replacement)
    ?.why
