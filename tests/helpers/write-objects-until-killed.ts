/**
 * A process for tests that kill it: puts one object repeatedly, the n-th time as a megabyte of n, and prints n when
 * the put has resolved. Its argument is the store's directory.
 */
import { openDiskObjects } from '#shared/stores/objects/objects.disk.ts'

const objects = await openDiskObjects(process.argv[2]!)
for (let n = 1; ; n++) {
  await objects.put('cards/one.png', new Uint8Array(new Uint32Array(262_144).fill(n).buffer), {
    contentType: 'image/png',
  })
  await Bun.write(Bun.stdout, `${n}\n`)
}
