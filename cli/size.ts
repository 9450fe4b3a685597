import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { importTimes } from '../infra/bundles/cold-start.ts'
import { buildComparisons } from '../infra/bundles/compare-with-sdk.ts'

/**
 * `npm run size -- [--rounds 7] [FUNCTION ...]`: compares the size and import time of each bundle with
 * its AWS SDK clients bundled alone, unpruned and pruned.
 */

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '7' } },
  allowPositionals: true,
})

const comparisons = await buildComparisons(join(import.meta.dirname, '../dist/size'), positionals)
const times = await importTimes(
  [...new Set(comparisons.flatMap(({ ours, sdk, pruned }) => [ours, sdk, pruned]))],
  Number(values.rounds),
)

const row = (cells: string[]): string =>
  `${cells.map((cell, n) => (n === 0 ? cell.padEnd(26) : cell.padStart(9))).join(' ')}\n`

process.stdout.write(
  row(['', 'kB', 'SDK', 'ratio', 'pruned', 'ratio', 'ms', 'SDK', 'ratio', 'pruned', 'ratio']),
)
for (const { name, ours, sdk, pruned } of comparisons) {
  const cells = async (figure: (file: string) => number | Promise<number>, digits: number) => {
    const [own, base, least] = await Promise.all([figure(ours), figure(sdk), figure(pruned)])
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
