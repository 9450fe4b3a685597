import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { functionRows } from '../definitions/functions.ts'
import { nodeModules, pruned } from './plugins.ts'

/** Builds one minified ES module per function, which includes the AWS SDK. */

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'dist/functions')

export const bundleFolder = (name: string, folder = FOLDER): string => join(folder, name)
export const bundleFile = (name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), 'index.mjs')

/** Separate files that few requests load: the Secrets Manager client, and the client for banks of a charge. */
const lazyFiles = {
  sealing: 'shared/store/sealing.ts',
  'account-lookup': 'shared/submissions/account-lookup.ts',
} as const
type LazyFile = keyof typeof lazyFiles

export const lazyFile = (file: LazyFile, name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), `${file}.mjs`)

const lazyImports: Plugin = {
  name: 'lazy-imports',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/(?:sealing|account-lookup)\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import'
        ? { path: `./${basename(path, '.ts')}.mjs`, external: true }
        : undefined,
    )
  },
}

/** The usual options of a bundler, without our plugins. */
export const plain: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minify: true,
  // Prefers the packages' ES builds, which allow tree shaking.
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'error',
}

const lean: BuildOptions = {
  ...plain,
  plugins: [nodeModules, pruned, lazyImports],
  // undici's switch that excludes its experimental parser.
  define: { esbuildDetection: 'true' },
}

export const everyFunction: Record<string, string> = Object.fromEntries(
  functionRows.map(({ name, entry }) => [name, entry]),
)

/** Both functions of the probe, outside the stage. */
export const PROBE = 'probe'
export const probeEntry: Record<string, string> = { [PROBE]: 'commands/probe/handlers.ts' }

/** The functions that verify signed requests or set their secrets. */
export const opensRequestSecrets = new Set<string>([
  ...operationNames.filter((name) => operations[name].caller === 'provider'),
  'manage-provider',
])

const lazyFilesOf = (name: string): LazyFile[] => [
  ...(opensRequestSecrets.has(name) ? (['sealing'] as const) : []),
  ...(name === 'charge' ? (['account-lookup'] as const) : []),
]

/** Builds all functions in one run of esbuild, which reads shared sources once. */
export const buildBundles = async (
  entries: Record<string, string> = everyFunction,
  folder = FOLDER,
): Promise<Metafile> => {
  const { metafile } = await build({
    ...lean,
    entryPoints: Object.entries(entries).flatMap(([name, entry]) => [
      { in: entry, out: `${name}/index` },
      ...lazyFilesOf(name).map((file) => ({ in: lazyFiles[file], out: `${name}/${file}` })),
    ]),
    outdir: folder,
    metafile: true,
  })
  return metafile
}
