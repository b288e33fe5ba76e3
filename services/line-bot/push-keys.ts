/** `bun run push:keys`: creates a key pair for Web Push. */
import webPush from 'web-push'
import { readCommandLine } from '#shared/runtime/command-line.ts'

const USAGE = `Makes a pair of keys for Web Push and prints them as settings, for .env. Nothing is stored.

  bun run push:keys

  --help   print this text`

readCommandLine(USAGE, {})
const { publicKey, privateKey } = webPush.generateVAPIDKeys()
process.stdout.write(`EVENT_PUSH_PUBLIC_KEY=${publicKey}\nEVENT_PUSH_PRIVATE_KEY=${privateKey}\n`)
