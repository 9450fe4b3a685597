import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the built page in the packed command, next to its bundles. */
export const BUILT_PAGE = 'console-page'

const SOURCE = join(import.meta.dirname, '../page')
const built = join(import.meta.dirname, BUILT_PAGE)

export type PageAssets = { script: string; style: string }

/** Bundles files of a folder for browsers with esbuild, in about 100 ms. `sources` are paths of their files. */
export const bundleForBrowsers = async (
  folder: string,
  entryPoints: string[],
): Promise<PageAssets & { sources: string[] }> => {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'error',
    outdir: 'built',
    write: false,
    metafile: true,
  })
  const textOf = (extension: string): string =>
    outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? ''
  const sources = Object.keys(metafile.inputs).map((path) => join(folder, path))
  return { script: textOf('.js'), style: textOf('.css'), sources }
}

export const buildPage = () => bundleForBrowsers(SOURCE, ['page.tsx', 'page.css'])

const read = (file: string): string => readFileSync(join(built, file), 'utf8')

let assets: Promise<PageAssets> | undefined

/** Returns the page of the package, or builds it at the first request. */
export const pageAssets = (): Promise<PageAssets> => {
  assets ??= existsSync(built)
    ? Promise.resolve({ script: read('page.js'), style: read('page.css') })
    : buildPage()
  return assets
}
