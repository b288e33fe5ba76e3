/** The isolation of the containers, read from the compose file and the Dockerfile. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Service {
  readonly image?: string
  readonly build?: { readonly args?: readonly string[] }
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
  readonly user?: string
  readonly networks?: readonly string[]
  readonly network_mode?: string
  readonly pid?: string
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly environment?: Readonly<Record<string, string | null>>
  readonly mem_limit?: string
  readonly pids_limit?: number
  readonly cpus?: string
  readonly tmpfs?: readonly string[]
  readonly command?: string | readonly string[]
  readonly deploy?: { readonly replicas: string }
}

const ROOT = join(import.meta.dir, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const compose = Bun.YAML.parse(read('docker-compose.yml')) as {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>
}
const services = Object.entries(compose.services)
const OURS = 'pilgrimage-event-tracking'
const STORES = ['postgres', 'redis', 'nats']

/** Capabilities that containers need, and why. */
const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  // Listens on 443.
  caddy: ['NET_BIND_SERVICE'],
  // Its start script changes the owner of the data directory to the user postgres, and switches to that user.
  postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
}

const PORTS: Readonly<Record<string, readonly string[]>> = {
  caddy: ['${HTTPS_PORT:-443}:443'],
  grafana: ['127.0.0.1:${GRAFANA_PORT:-3001}:3000'],
}

/** Networks of the containers that are not on both service networks. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  caddy: ['proxied'],
  pages: ['stores'],
  migrate: ['stores'],
  prometheus: ['proxied', 'observed'],
  grafana: ['observed'],
  observe: ['observed'],
  ...Object.fromEntries(STORES.map((store) => [store, ['stores']])),
}

describe.each(services)('%s', (name, service) => {
  test('writes only to its volumes, and cannot gain privileges', () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(service.cap_add ?? []).toEqual([...(CAPABILITIES[name] ?? [])])
    expect(service.privileged ?? false).toBe(false)
    expect([service.network_mode, service.pid]).toEqual([undefined, undefined])
    expect(JSON.stringify(service.volumes ?? [])).not.toMatch(
      /docker\.sock|"\/(etc|proc|sys|root|var\/run)?:/,
    )
  })

  test('has limits of memory, processes and processors, and of each temporary file system', () => {
    expect(service.mem_limit).toMatch(/\d+g/)
    expect(service.pids_limit).toBeGreaterThan(0)
    expect(service.cpus).toMatch(/^\$\{CPUS:-\d+\}$/)
    expect(service.tmpfs).not.toEqual([])
    for (const mounted of service.tmpfs ?? []) expect(mounted).toMatch(/^\/[\w/]+:size=\d+m$/)
  })

  test('publishes the port that the world needs if it is Caddy, one for this machine if it is Grafana', () => {
    expect(service.ports ?? []).toEqual([...(PORTS[name] ?? [])])
  })

  test('is in the networks that it needs', () => {
    expect(service.networks).toEqual([...(NETWORKS[name] ?? ['proxied', 'stores'])])
  })

  test('contains no secret, because each comes from the environment', () => {
    for (const [variable, value] of Object.entries(service.environment ?? {}))
      if (/TOKEN|SECRET|PASSWORD|_KEY(_ID)?$/.test(variable)) expect(value || '${').toMatch(/^\$\{/)
  })
})

test('the stores’ network is internal', () => {
  expect(compose.networks.stores).toMatchObject({ internal: true })
})

test('Caddy gets the host names and certificates, and none of the services’ secrets', () => {
  const given = Object.keys(compose.services.caddy?.environment ?? {})
  expect(given.filter((variable) => /TOKEN|SECRET|PASSWORD|DATABASE|REDIS|S3_/.test(variable))).toEqual([])
})

const SECRET = /TOKEN|SECRET|PASSWORD|PRIVATE|_KEY(_ID)?$|_URL$/
/** URLs that contain no password. */
const OPEN = /^(EVENT|LINE)_\w+_URL$|^OBJECTS_URL$|^EVENT_PUSH_PUBLIC_KEY$/

const STORE_SECRETS = ['DATABASE_URL', 'REDIS_URL', 'NATS_URL', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']
const TOKENS = ['EVENT_ADMIN_TOKEN', 'EVENT_MANAGER_TOKEN', 'EVENT_VOLUNTEER_TOKEN']
const ALERTING = 'LINE_CHANNEL_ACCESS_TOKEN'

test.each([
  ['pages', ['DATABASE_URL']],
  ['migrate', ['DATABASE_URL']],
  ['backup', [...STORE_SECRETS, ALERTING]],
  ['scheduler', [...STORE_SECRETS, ALERTING]],
  ['tracking', [...STORE_SECRETS, ...TOKENS]],
  ['survey-profile', [...STORE_SECRETS, ...TOKENS]],
  ['feedback-media', [...STORE_SECRETS, ...TOKENS]],
  ['admin', [...STORE_SECRETS, ...TOKENS, ALERTING]],
  ['line-bot', [...STORE_SECRETS, ...TOKENS, ALERTING, 'LINE_CHANNEL_SECRET', 'EVENT_PUSH_PRIVATE_KEY']],
] as const)('%s gets the secrets that it needs, and no other', (name, needed) => {
  const given = Object.keys(compose.services[name]?.environment ?? {})
  const secrets = given.filter((one) => SECRET.test(one) && !OPEN.test(one))
  expect(secrets.sort()).toEqual([...needed].sort())
})

test('each store asks for a password, and compose refuses to start without one', () => {
  const { tracking, redis, nats, postgres } = compose.services
  for (const [url, variable] of [
    ['DATABASE_URL', 'POSTGRES_PASSWORD'],
    ['REDIS_URL', 'REDIS_PASSWORD'],
    ['NATS_URL', 'NATS_PASSWORD'],
  ] as const)
    expect(tracking?.environment?.[url]).toContain(`:\${${variable}:?`)
  expect(redis?.command).toContain('--requirepass ${REDIS_PASSWORD:?')
  expect(nats?.command?.at(-1)).toStartWith('${NATS_PASSWORD:?')
  expect(postgres?.environment?.POSTGRES_PASSWORD).toStartWith('${POSTGRES_PASSWORD:?')
})

test('the image runs as an unprivileged user, as process 1, without build files', () => {
  const lines = read('services/Dockerfile').split('\n')
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const user = last.findLastIndex((line) => line.startsWith('USER '))
  expect(last[user]).toBe('USER bun')
  // Nothing may run after the user is set, and nothing before it may make that user the owner of the code.
  expect(last.slice(user + 1).filter((line) => /^(RUN|COPY|ADD|USER)/.test(line))).toEqual([])
  expect(last.filter((line) => /^COPY .*--chown/.test(line))).toEqual([])
  expect(last).toContain('ENTRYPOINT ["bun"]')
  expect(lines).toContain('ENV NODE_ENV=production IN_CONTAINER=1')
  expect(read('services/Dockerfile')).not.toMatch(/^(ARG|ENV) .*(TOKEN|SECRET|PASSWORD)/m)
  expect(read('.dockerignore').split('\n')).toContain('*')
})

test('whoever shows metrics gets no secret, and nobody can change what Grafana shows', () => {
  const { observe, prometheus, grafana } = compose.services
  expect([observe?.environment, prometheus?.environment]).toEqual([undefined, undefined])
  expect(grafana?.environment).toMatchObject({
    GF_AUTH_ANONYMOUS_ENABLED: 'true',
    GF_AUTH_DISABLE_LOGIN_FORM: 'true',
    GF_AUTH_BASIC_ENABLED: 'false',
    GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
  })
  for (const name of ['observe', 'prometheus', 'grafana'])
    expect(compose.services[name]).toMatchObject({ profiles: ['observe'] })
})

test('whatever reads the settings can read the files that they name', () => {
  for (const [name, { image, environment, volumes = [] }] of services)
    if (image === OURS && environment !== undefined)
      expect({ name, mounted: volumes.some((one) => one.endsWith(':/event:ro')) }).toEqual({
        name,
        mounted: true,
      })
})

test('no service runs the image as another user, and Redis does not run as root', () => {
  for (const [, service] of services) if (service.image === OURS) expect(service.user).toBeUndefined()
  expect(compose.services.redis?.user).toBe('redis')
})

/** An archive's other containers work as the user of Postgres, without its capabilities. */
const OVERRIDES = [
  { file: 'services/cluster.yml', less: [] },
  { file: 'services/archive.yml', less: ['base-backups', 'recovered'] },
]

test.each(OVERRIDES)('what $file adds is isolated as what it extends', ({ file, less }) => {
  const { services: added } = Bun.YAML.parse(read(file)) as {
    readonly services: Readonly<Record<string, Service & { readonly extends?: { readonly service: string } }>>
  }
  for (const [name, service] of Object.entries(added)) {
    expect(compose.services).toHaveProperty(service.extends?.service ?? name)
    for (const key of ['read_only', 'cap_drop', 'security_opt', 'privileged'] as const)
      expect(service[key]).toBeUndefined()
    const isLess = less.includes(name)
    expect({ name, user: service.user, added: service.cap_add?.length }).toEqual(
      isLess ? { name, user: 'postgres', added: 0 } : { name, user: undefined, added: undefined },
    )
  }
})

test('the number of trackings is a setting, also in a cluster', () => {
  expect(compose.services.tracking?.deploy).toEqual({ replicas: '${TRACKING_REPLICAS:-3}' })
  const cluster = Bun.YAML.parse(read('services/cluster.yml')) as typeof compose
  expect(cluster.services.tracking?.deploy).toBeUndefined()
  expect(read('.env.example')).toContain('\n# TRACKING_REPLICAS=3\n')
})

test('Postgres has connections for every process, twice during an upgrade, and for commands', () => {
  const connections = Number(
    /POSTGRES_CONNECTIONS:-(\d+)/.exec(String(compose.services.postgres?.command))?.[1],
  )
  const cluster = Bun.YAML.parse(read('services/cluster.yml')) as typeof compose
  const twice = Object.values(cluster.services).filter(({ deploy }) => deploy !== undefined)
  const processes = 2 * twice.length + 3
  expect(processes).toBe(13)
  expect(connections).toBeGreaterThanOrEqual(processes * 20 + 40)
  expect(read('.env.example')).toContain(`\n# POSTGRES_CONNECTIONS=${connections}\n`)
})

test('the change log begins with this release, and the image is labelled with it', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(/^## (.+)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version)
  expect(read('services/Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`)
  expect(compose.services.migrate?.build?.args).toEqual(['REVISION', 'SOURCE'])
  for (const label of ['revision="$REVISION"', 'source="$SOURCE"'])
    expect(read('services/Dockerfile')).toContain(`org.opencontainers.image.${label}`)
  expect(read('services/Dockerfile')).toContain('ENV REVISION="$REVISION"')
})
