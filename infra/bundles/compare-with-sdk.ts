import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildBundles, bundleFile, everyFunction, lean } from './build.ts'
import { asItComes, sdkAlone, sdkIn } from './sdk-baseline.ts'

/** A function's bundle, and what it holds of the AWS SDK bundled alone: as it comes, and cut as ours. */
export type BundleTrio = { name: string; ours: string; sdk: string; cut: string }

/**
 * Builds them into `folder`.
 * @returns the files of each function, in the order of `everyFunction`; of those in `names`, or of all
 */
export const buildBesideSdk = async (
  folder: string,
  names: readonly string[] = [],
): Promise<BundleTrio[]> => {
  const folders = { ours: join(folder, 'ours'), sdk: join(folder, 'sdk'), cut: join(folder, 'cut') }
  const metafile = await buildBundles(everyFunction, lean, folders.ours)
  const wanted = Object.keys(everyFunction).filter(
    (name) => names.length === 0 || names.includes(name),
  )
  // Functions that use the same of it share one base.
  const sources = join(folder, 'sources')
  await mkdir(sources, { recursive: true })
  const bases: Record<string, string> = {}
  const baseOf = new Map<string, string>()
  for (const name of wanted) {
    const source = sdkAlone(sdkIn(metafile, name))
    const base = createHash('sha256').update(source).digest('hex').slice(0, 12)
    const file = join(sources, `${base}.js`)
    await writeFile(file, source)
    bases[base] = file
    baseOf.set(name, base)
  }
  await buildBundles(bases, asItComes, folders.sdk)
  await buildBundles(bases, lean, folders.cut)
  return wanted.map((name) => {
    const base = baseOf.get(name) ?? ''
    return {
      name,
      ours: bundleFile(name, folders.ours),
      sdk: bundleFile(base, folders.sdk),
      cut: bundleFile(base, folders.cut),
    }
  })
}
