/** The handbook's commands of an upgrade, on a stand-in for Docker: which containers they stop and remove. */
import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandsOf } from '#tests/helpers/handbook-commands.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'

/** Each file in `$CONTAINERS` is a container: its name is the id, its content the service and the state. */
const DOCKER = String.raw`#!/bin/bash
cd "$CONTAINERS"
case "$1 $2" in
'compose ps')
  for id in *; do
    read -r service state <"$id"
    [[ $3 == -aq || $state == up ]] && [[ $# == 3 || " ${'${*:4}'} " == *" $service "* ]] && echo "$id"
  done ;;
'compose up')
  for word; do
    [[ $word == *=* && -z $NONE_STARTS ]] || continue
    count=$(grep -lx "${'${word%=*}'} up" * | wc -l)
    for ((n = count; n < ${'${word#*=}'}; n++)); do echo "${'${word%=*}'} up" >"new-${'${word%=*}'}-$n"; done
  done
  [[ $* != *--scale* || -z $NOT_HEALTHY ]] ;;
'stop '*) for id in "${'${@:2}'}"; do sed -i 's/up$/down/' "$id"; done ;;
'rm '*) for id in "${'${@:2}'}"; do [[ $id == -f ]] || rm "$id"; done ;;
esac
exit $?
`
const OLD = { tracking: 6, 'survey-profile': 1, 'feedback-media': 1, admin: 2, 'line-bot': 1, scheduler: 1 }
const STORES = ['caddy-1', 'postgres-1', 'redis-1']

let bin = ''
let upgrade = ''
let giveUp = ''
beforeAll(async () => {
  ;[upgrade, giveUp] = (await commandsOf('Upgrade and roll back')) as [string, string]
  bin = await newDirectory('stand-ins')
  writeFileSync(join(bin, 'docker'), DOCKER)
  writeFileSync(join(bin, 'git'), '#!/bin/sh\n')
  for (const name of ['docker', 'git']) chmodSync(join(bin, name), 0o755)
})

/** An installation of `OLD`, and a new shell for each block of commands. */
async function installation() {
  const dir = await newDirectory('folder')
  const containers = await newDirectory('containers')
  const olds = Object.entries(OLD).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, n) => `${name}-${n}`),
  )
  for (const id of [...olds, ...STORES]) writeFileSync(join(containers, id), `${id.replace(/-\d$/, '')} up\n`)
  const ids = (state: string) =>
    readdirSync(containers)
      .filter((id) => readFileSync(join(containers, id), 'utf8').endsWith(` ${state}\n`))
      .sort()
  return {
    dir,
    olds: olds.toSorted(),
    before: [...olds, ...STORES].sort(),
    ids,
    remove: (id: string) => rmSync(join(containers, id)),
    run: async (block: string, env: Record<string, string> = {}) => {
      const PATH = `${bin}:${process.env['PATH']}`
      const commands = block.replace('<release>', 'next').replace('<old release>', 'this')
      return runCommand(['bash', '-c', commands], {
        cwd: dir,
        env: { PATH, CONTAINERS: containers, NONE_STARTS: '', NOT_HEALTHY: '', ...env },
      })
    },
  }
}

test('an upgrade replaces any number of processes by as many new ones, and no store', async () => {
  const { run, ids, olds } = await installation()
  expect(await run(upgrade)).toMatchObject({ code: 0 })
  const news = ids('up').filter((id) => id.startsWith('new-'))
  expect(news).toHaveLength(olds.length)
  expect(ids('up')).toEqual([...news, ...STORES].sort())
})

test('if no new process starts, the old ones go on', async () => {
  const { run, ids, before } = await installation()
  expect((await run(upgrade, { NONE_STARTS: '1' })).code).not.toBe(0)
  expect(ids('up')).toEqual(before)
})

test('new processes that do not become healthy are removed, also from another shell', async () => {
  const { run, ids, before } = await installation()
  expect((await run(upgrade, { NOT_HEALTHY: '1' })).code).not.toBe(0)
  expect(ids('up').length).toBeGreaterThan(before.length)
  await run(giveUp)
  expect(ids('up')).toEqual(before)
})

test('nothing is removed if the old processes are not known, or do not all run', async () => {
  const { run, ids, before, olds, dir, remove } = await installation()
  await run(giveUp)
  writeFileSync(join(dir, '.old-containers'), '')
  await run(giveUp)
  expect(ids('up')).toEqual(before)
  writeFileSync(join(dir, '.old-containers'), `${olds.join('\n')}\n`)
  remove(olds[0]!)
  await run(giveUp)
  expect(ids('up')).toEqual(before.filter((id) => id !== olds[0]))
})
