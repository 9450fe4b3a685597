import { join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { functionRows } from '../functions.ts'
import { nodeModules } from './node-modules.ts'
import { unused } from './unused.ts'

/** What is deployed: one minified ES module per function, with the AWS SDK in it. */

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'dist/functions')

/** Where the bundle of a function lies, alone: its asset is the folder. */
export const bundleFolder = (name: string, folder = FOLDER): string => join(folder, name)
export const bundleFile = (name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), 'index.mjs')

/** How any bundler would be told to do it; the rest is what `unused` and `nodeModules` add. */
export const plain: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minify: true,
  // `module` before `main` picks the packages' ES builds, which can be shaken.
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'error',
}

export const lean: BuildOptions = {
  ...plain,
  plugins: [nodeModules, unused],
  // undici's own word for a bundle without the parser that it has on trial.
  define: { esbuildDetection: 'true' },
}

export const everyFunction: Record<string, string> = Object.fromEntries(
  functionRows.map(({ name, entry }) => [name, entry]),
)

/** Builds all at once, so that what they share is read once. */
export const buildBundles = async (
  entries: Record<string, string> = everyFunction,
  options: BuildOptions = lean,
  folder = FOLDER,
): Promise<Metafile> => {
  const { metafile } = await build({
    ...options,
    entryPoints: Object.entries(entries).map(([name, entry]) => ({
      in: entry,
      out: relative(folder, bundleFile(name, folder)).replace(/\.mjs$/, ''),
    })),
    outdir: folder,
    metafile: true,
  })
  return metafile
}
