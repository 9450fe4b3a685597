import { join } from 'node:path'
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

/** A separate file with the Secrets Manager client, which only signed requests load. */
const SEALING = 'sealing.mjs'
const SEALING_ENTRY = 'shared/store/sealing.ts'

export const sealingFile = (name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), SEALING)

const lazySealing: Plugin = {
  name: 'lazy-sealing',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/sealing\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${SEALING}`, external: true } : undefined,
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
  plugins: [nodeModules, pruned, lazySealing],
  // undici's switch that excludes its experimental parser.
  define: { esbuildDetection: 'true' },
}

export const everyFunction: Record<string, string> = Object.fromEntries(
  functionRows.map(({ name, entry }) => [name, entry]),
)

/** The functions that verify signed requests or set their secrets. */
export const opensRequestSecrets = new Set<string>([
  ...operationNames.filter((name) => operations[name].caller === 'provider'),
  'manage-provider',
])

/** Builds all functions in one run of esbuild, which reads shared sources once. */
export const buildBundles = async (
  entries: Record<string, string> = everyFunction,
  folder = FOLDER,
): Promise<Metafile> => {
  const { metafile } = await build({
    ...lean,
    entryPoints: Object.entries(entries).flatMap(([name, entry]) => [
      { in: entry, out: `${name}/index` },
      ...(opensRequestSecrets.has(name) ? [{ in: SEALING_ENTRY, out: `${name}/sealing` }] : []),
    ]),
    outdir: folder,
    metafile: true,
  })
  return metafile
}
