import { createHash } from 'node:crypto'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildBundles, bundleFile, everyFunction, lean } from '../bundles/build.ts'
import { importTimes } from '../bundles/import-time.ts'
import { asItComes, sdkAlone, sdkIn } from '../bundles/sdk-alone.ts'

/**
 * `npm run size -- [--rounds 7] [FUNCTION ...]`: each function's bundle and its import, beside what
 * it holds of the AWS SDK bundled alone: as the SDK comes, and with all that is cut from ours cut too.
 */

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '7' } },
  allowPositionals: true,
})

const FOLDER = join(import.meta.dirname, '../../dist/size')
const folders = { ours: join(FOLDER, 'ours'), sdk: join(FOLDER, 'sdk'), cut: join(FOLDER, 'cut') }

const metafile = await buildBundles(everyFunction, lean, folders.ours)
const names = Object.keys(everyFunction).filter(
  (name) => positionals.length === 0 || positionals.includes(name),
)

// Functions that use the same of it share one base.
const sources = join(FOLDER, 'sources')
await mkdir(sources, { recursive: true })
const bases: Record<string, string> = {}
const baseOf = new Map<string, string>()
for (const name of names) {
  const source = sdkAlone(sdkIn(metafile, name))
  const base = createHash('sha256').update(source).digest('hex').slice(0, 12)
  const file = join(sources, `${base}.js`)
  await writeFile(file, source)
  bases[base] = file
  baseOf.set(name, base)
}
await buildBundles(bases, asItComes, folders.sdk)
await buildBundles(bases, lean, folders.cut)

const trios = names.map((name) => {
  const base = baseOf.get(name) ?? ''
  return {
    name,
    ours: bundleFile(name, folders.ours),
    sdk: bundleFile(base, folders.sdk),
    cut: bundleFile(base, folders.cut),
  }
})
const times = await importTimes(
  [...new Set(trios.flatMap(({ ours, sdk, cut }) => [ours, sdk, cut]))],
  Number(values.rounds),
)

const row = (cells: string[]): string =>
  `${cells.map((cell, n) => (n === 0 ? cell.padEnd(26) : cell.padStart(9))).join(' ')}\n`

process.stdout.write(
  row(['', 'kB', 'SDK', 'of it', 'SDK cut', 'of it', 'ms', 'SDK', 'of it', 'SDK cut', 'of it']),
)
for (const { name, ours, sdk, cut } of trios) {
  const cells = async (figure: (file: string) => number | Promise<number>, digits: number) => {
    const [own, base, least] = await Promise.all([figure(ours), figure(sdk), figure(cut)])
    return [
      own.toFixed(digits),
      base.toFixed(digits),
      `${(own / base).toFixed(2)}x`,
      least.toFixed(digits),
      `${(own / least).toFixed(2)}x`,
    ]
  }
  const kilobytes = await cells(async (file) => (await stat(file)).size / 1000, 0)
  const milliseconds = await cells((file) => times.get(file) ?? Number.NaN, 1)
  process.stdout.write(row([name, ...kilobytes, ...milliseconds]))
}
