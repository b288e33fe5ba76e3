/**
 * A real S3 server for the tests: Debian 13's Ceph object gateway, without a cluster, on SQLite, in a chroot.
 *
 * The chroot is made once, in the user's cache directory (`$XDG_CACHE_HOME` or `~/.cache`); each server has its own
 * port, data and bucket in it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import type { S3Settings } from '#shared/stores/objects/objects.ts'
import { runToEnd, type Server, startServer } from './process.ts'
import { freePort } from './servers.ts'

/** Timeout for making the chroot: it downloads about 110 MB. */
const BUILD_S = 240
/** Timeout for making a user. Ceph's tool takes a second, but sometimes hangs when its threads end. */
const USER_S = 20

export interface S3Server {
  readonly server: Server
  readonly settings: S3Settings
  readonly bucket: string
}

/**
 * Starts a server with an empty bucket. Where that is not possible, prints a warning and returns `null`.
 * @param unproven what the run does not test without it
 */
export async function startS3Server(unproven: string): Promise<S3Server | null> {
  try {
    const root = await chroot()
    return await startGateway(root).catch(() => startGateway(root))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.warn(`\n!!! No real S3 server: ${reason}\n!!! NOT PROVEN by this run: ${unproven}\n`)
    return null
  }
}

/** The chroot's directory; makes it when it is missing. */
async function chroot(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const directory = join(cache, 'pilgrimage-event-tracking', 's3-trixie')
  if (process.getuid?.() !== 0) throw new Error('it runs in a chroot, which needs root')
  if (existsSync(join(directory, 'usr/bin/radosgw'))) return directory
  if (!/^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8')))
    throw new Error('its chroot needs Debian')
  console.log(`Making the chroot of an S3 server in ${directory}, once (500 MB, at most ${BUILD_S} s)`)
  const script = join(import.meta.dir, 's3-chroot.sh')
  // coreutils' timeout ends the whole process group, including apt's children.
  const build = Bun.spawn(['timeout', '--kill-after=10', `${BUILD_S}`, 'nice', 'sh', script, directory], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [code, out, err] = await Promise.all([
    build.exited,
    new Response(build.stdout).text(),
    new Response(build.stderr).text(),
  ])
  const why = code === 124 || code === 137 ? `was not ready after ${BUILD_S} s` : 'could not be made'
  if (code !== 0)
    throw new Error(`its chroot ${why}:\n${`${out}\n${err}`.trim().split('\n').slice(-8).join('\n')}`)
  return directory
}

async function startGateway(root: string): Promise<S3Server> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { endpoint: url, region: 'us-east-1', accessKeyId: 'tests', secretAccessKey: 'tests-only' }
  const bucket = 'objects'
  await mkdir(join(root, 'var/lib/rgw'), { recursive: true })
  const dir = await mkdtemp(join(root, 'var/lib/rgw', 'run-'))
  const inside = `/var/lib/rgw/${basename(dir)}`
  await Bun.write(join(dir, 'ceph.conf'), configuration(inside, port))
  const options = ['--conf', `${inside}/ceph.conf`, '--no-mon-config', '--name', 'client.rgw']
  const user = ['--uid=tests', '--display-name=tests', `--access-key=${settings.accessKeyId}`]
  const secret = `--secret-key=${settings.secretAccessKey}`
  const tool = ['timeout', '--kill-after=5', `${USER_S}`, 'chroot', root, 'radosgw-admin', ...options]
  await runToEnd([...tool, 'user', 'create', ...user, secret])
  const server = await startServer({
    name: 'radosgw',
    command: ['chroot', root, 'radosgw', '-d', ...options],
    dir,
    port,
    url,
    ready: () => makeBucket(settings, bucket),
  })
  return { server, settings, bucket }
}

/** A single process without a cluster. */
const configuration = (data: string, port: number): string => `
[global]
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
[client]
admin_socket =
rgw_backend_store = dbstore
rgw_config_store = dbstore
dbstore_db_dir = ${data}
dbstore_config_uri = file:${data}/config.db
rgw_data = ${data}
rgw_thread_pool_size = 16
rgw_frontends = beast endpoint=127.0.0.1:${port}
`

/** Bun's client cannot create a bucket. With the bucket as host, an object's URL is the bucket's. */
async function makeBucket(settings: S3Settings, bucket: string): Promise<boolean> {
  const client = new Bun.S3Client({ ...settings, virtualHostedStyle: true })
  const answer = await fetch(client.presign(bucket, { method: 'PUT' }), { method: 'PUT' })
  return answer.ok
}
