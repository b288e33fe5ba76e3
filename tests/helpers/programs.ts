/** The programs that the tests start: their paths, and their installation. */
import { existsSync, readFileSync } from 'node:fs'

export interface Program {
  readonly commands: readonly string[]
  /** Their package on Debian and Ubuntu. */
  readonly debian: string
  /** Their formula in Homebrew. */
  readonly brew: string
  /** Files below `/`, for a package without commands: one must exist. */
  readonly files?: readonly string[]
}

export const PROGRAMS: readonly Program[] = [
  { commands: ['initdb', 'postgres'], debian: 'postgresql', brew: 'postgresql@17' },
  { commands: ['redis-server', 'redis-cli'], debian: 'redis-server', brew: 'redis' },
  { commands: ['nats-server'], debian: 'nats-server', brew: 'nats-server' },
  { commands: ['caddy'], debian: 'caddy', brew: 'caddy' },
  { commands: ['chromium'], debian: 'chromium', brew: '--cask chromium' },
  // Chromium without windows. Not available on macOS, which uses the whole one.
  {
    commands: [],
    debian: 'chromium-headless-shell',
    brew: '',
    files: ['usr/bin/chromium-headless-shell', 'System/Library'],
  },
  // Pages are photographed in Chinese and Japanese. macOS includes such fonts.
  {
    commands: [],
    debian: 'fonts-wqy-zenhei',
    brew: '',
    files: ['usr/share/fonts/**/{*CJK*,wqy*}', 'System/Library/Fonts/PingFang*'],
  },
]

/** One long test needs it, and installs it itself. */
export const PROMETHEUS: Program = {
  commands: ['prometheus', 'promtool'],
  debian: 'prometheus',
  brew: 'prometheus',
}

/** Likewise. */
export const PGBACKREST: Program = { commands: ['pgbackrest'], debian: 'pgbackrest', brew: 'pgbackrest' }

/** Directories outside an ordinary user's PATH: of Debian, and of Homebrew's versioned formulas. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/sbin']
const POSTGRES_DIRECTORIES = ['usr/lib/postgresql/*/bin', '{opt/homebrew,usr/local}/opt/postgresql@*/bin']

const isRoot = process.getuid?.() === 0

const find = (command: string): string | null =>
  Bun.which(command, { PATH: [process.env.PATH, ...SYSTEM_DIRECTORIES].join(':') }) ?? newestPostgres(command)

function newestPostgres(command: string): string | null {
  const found = POSTGRES_DIRECTORIES.flatMap((directory) => [
    ...new Bun.Glob(`${directory}/${command}`).scanSync({ cwd: '/', absolute: true, onlyFiles: false }),
  ])
  const byVersion = new Intl.Collator('en', { numeric: true })
  return found.sort(byVersion.compare).at(-1) ?? null
}

/**
 * The absolute path of a command of {@link PROGRAMS}.
 * @throws Error when it is not installed
 */
export function commandPath(command: string): string {
  const path = find(command)
  if (path === null) throw new Error(`${command} is not installed; "bun run test" installs what is missing`)
  return path
}

const isMissing = ({ commands, files }: Program): boolean =>
  commands.some((command) => find(command) === null) ||
  (files?.every((glob) => new Bun.Glob(glob).scanSync({ cwd: '/', onlyFiles: false }).next().done) ?? false)

const missingOf = (programs: readonly Program[]): Program[] => programs.filter(isMissing)

/**
 * Installs missing programs: with apt on Debian and Ubuntu, as root or through sudo.
 * @throws Error with the command to type when that is not possible or fails
 */
export async function ensurePrograms(programs: readonly Program[] = PROGRAMS): Promise<void> {
  const missing = missingOf(programs)
  if (missing.length === 0) return
  const packages = missing.map((program) => program.debian)
  if (!hasApt() || (!isRoot && Bun.which('sudo') === null)) throw new Error(instructions(missing))

  const [sudo, asRoot] = isRoot ? ['', []] : ['sudo ', ['sudo']]
  const script = ['env', 'DEBIAN_FRONTEND=noninteractive', 'sh', '-c', APT_SCRIPT, 'apt', ...packages]
  console.log(`The tests need ${missingCommands(missing)}; apt installs them, without starting a service:`)
  console.log(`  ${aptLine(packages, sudo)}`)
  await Bun.spawn([...asRoot, ...script], { stdio: ['inherit', 'inherit', 'inherit'] }).exited
  const stillMissing = missingOf(programs)
  if (stillMissing.length > 0) throw new Error(instructions(stillMissing))
}

/** A package would start its service on the default port; the policy file prevents that (invoke-rc.d(8)). */
const APT_SCRIPT = `
set -e
# su keeps an ordinary user's PATH, which lacks directories that dpkg needs.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy"
  chmod 755 "$policy"
fi
apt-get update || echo 'apt-get update failed; trying with the lists at hand' >&2
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
`

function hasApt(): boolean {
  if (Bun.which('apt-get') === null || !existsSync('/etc/os-release')) return false
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync('/etc/os-release', 'utf8'))
}

const aptLine = (packages: string[], sudo = ''): string =>
  `${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages.join(' ')}`

/** The missing commands of these programs; for a program without commands, its package. */
const missingCommands = (programs: readonly Program[]): string =>
  programs
    .flatMap(({ commands, debian }) => (commands.length > 0 ? commands : [debian]))
    .filter((name) => find(name) === null)
    .join(', ')

const instructions = (missing: readonly Program[]): string =>
  [
    `The tests need ${missingCommands(missing)}. Type:`,
    `  ${lineToType(missing)}`,
    'and run the tests again. The tests that need no servers: bun run test:embedded',
  ].join('\n')

function lineToType(missing: readonly Program[]): string {
  if (process.platform === 'darwin') return `brew install ${missing.map((program) => program.brew).join(' ')}`
  if (!hasApt())
    return `your package manager's command for ${missingCommands(missing)} (they must be on the PATH)`
  const line = aptLine(missing.map((program) => program.debian))
  return isRoot ? line : `su -c '${line}'`
}
