import { randomOf, seedOf } from './random.ts'

/**
 * The sizes of the product: page sizes, bounds of batches, lanes, leases and time limits of runs. The
 * loader makes variables of their constants, so that a run of few debits can have small ones. The product
 * itself has only constants, which no stage can configure.
 */

/** The smallest and the largest value of a run with small sizes; undefined: the usual value. */
type Range = readonly [least: number, most: number]

/** By `file NAME`; the first pattern that matches decides. A constant that none matches fails a test. */
export const ranges: readonly (readonly [RegExp, Range?])[] = [
  [/^shared\/reconciliation\/\S+ (?:LIST_PAGE|BATCH_MAX|LINES_AT_ONCE)$/, [4, 12]],
  [/^shared\/domain\/providers\/daily-use UNWANTED_LEAST$/, [1, 3]],
  // Time for the first debits of a call.
  [/^shared\/operator\/bulk RUN_MS$/, [60, 120]],
  [/^shared\/operator\/bulk AT_ONCE$/, [1, 1]],
  [/^shared\/operator\/\S+ RUN_MS$/, [200, 900]],
  [/^shared\/api\/pagination ITEMS_BYTES_MAX$/, [2_000, 8_000]],
  // What callers observe, and what one function does with one request.
  [/^shared\/(?:api|domain|operator|banks|webhooks)\/|^functions\/(?:provider|operator|bank)\//],
  [/^functions\/jobs\/build-batch RUN_MS$/, [50, 500]],
  [/^functions\/jobs\/\S+ RUN_MS$/, [200, 900]],
  [/ SLICE_MAX$/, [6, 20]],
  [/ LINES_MAX$/, [4, 9]],
  [/ SHARES_MAX$/, [8, 24]],
  [/ LINES_PER_CHUNK$/, [1, 3]],
  [/ (?:WIDE_LANES|SPLITS)$/, [2, 4]],
  [/ LANES_PER_BUILDER$/, [1, 2]],
  [/ DIVIDES_AFTER$/, [1, 4]],
  [/(?:build-lease LEASE|batch-item BUILDING|reconciliations PART)_SECONDS$/, [1, 60]],
  [/^shared\/sweep\/run OVERDUE_MS$/, [40, 100]],
  [/^shared\/sweep\/run WALK_MS$/, [60, 140]],
  [/^shared\/sweep\/run CREATED_MS$/, [100, 240]],
  [/^shared\/sweep\/run FEED_MS$/, [300, 600]],
  [/^shared\/store\/webhooks\/feed-search CALL_FEW$/, [1, 2]],
  [/^shared\/store\/sweep-progress PAGE_MAX$/, [1, 2]],
  // Formats, retries, and places in a list.
  [
    / (?:AUTO_RETRIES_MAX|EXAMPLES_MAX|RACES_MAX|EMPTY_READS_MAX|REPEATS_MAX|VERSIONS_MAX|LEASES_MAX|TOKEN_LENGTH_MAX|PAGES_PER_GENERATION)$/,
  ],
  [/ SETTLE_SHARDS$/, [2, 4]],
  [/ (?:SHARDS|MARKS|DEBIT|DAY_TOTAL|TRANSITION|CACHE_FACTOR|SCHEDULING_SHARE|LATE_SHARE)$/],
  [/[ _](?:MS|SECONDS|DAYS|HOURS|LENGTH|DIGITS|BYTES|CHARACTERS)(?:_MAX)?$/],
  [/ \w+_AT_ONCE$| CONCURRENCY$/, [1, 3]],
  [/ (?:\w+_)?(?:SIZE|MAX|FIRST|PAGES?|PER_READ)$/, [2, 6]],
]

const rangeOf = (name: string): Range | undefined =>
  ranges.find(([pattern]) => pattern.test(name))?.[1]

/** In every run: a world of few debits and days leaves most shards and records of erasures empty, and has short recoveries. */
const sizesOfAll: Readonly<Record<string, number>> = {
  'shared/store/work-index SHARDS': 2,
  'shared/store/work-index SETTLE_SHARDS': 2,
  'shared/domain/operator/restore ERASURE_DAYS': 40,
  'shared/store/debits/later-erasures WAIT_DAYS': 1,
  'shared/domain/webhooks/recovery RECOVERY_PAGE': 4,
}

/** A number at the top of a file. */
const CONSTANT = /^(export )?const ([A-Z][A-Z0-9_]*) = (?=[\d_.* A-Z]+$)/gm

const DIGITS = /^((?:export )?const ([A-Z_]+) = )\d+$/gm

export const constantsIn = (source: string): string[] =>
  [...source.matchAll(CONSTANT)].map(([, , name]) => name ?? '')

/** Returns the source of a file with variables in place of the constants that are sizes. */
export const withSizes = (file: string, original: string): string => {
  const names: string[] = []
  const source = original.replaceAll(DIGITS, (text, head, name) => {
    const size = sizesOfAll[`${file} ${name}`]
    return size === undefined ? text : `${head}${size}`
  })
  const changed = source.replaceAll(CONSTANT, (text, exported = '', name) => {
    if (!rangeOf(`${file} ${name}`)) return text
    names.push(name)
    return `${exported}let ${name} = `
  })
  if (names.length === 0) return source
  const added = names.map((name) => `addSize('${file} ${name}', ${name}, (to) => { ${name} = to })`)
  return `${changed}\nimport { addSize } from ${JSON.stringify(import.meta.url)}\n${added.join('\n')}\n`
}

const sizes: { name: string; usual: number; set: (value: number) => void }[] = []

/** Called by the files of the product that the loader has changed. */
export const addSize = (name: string, usual: number, set: (value: number) => void): void => {
  sizes.push({ name, usual, set })
}

/** Returns a size in a run with small ones; the usual one without their seed. */
export const sizeIn = (seed: number | undefined, name: string, usual: number): number => {
  const [least, most] = rangeOf(name) ?? [usual, usual]
  if (seed === undefined) return usual
  return least + randomOf(seedOf(seed, 14, ...Buffer.from(name))).below(most - least + 1)
}

export const setSizes = (seed: number | undefined): void => {
  for (const { name, usual, set } of sizes) set(sizeIn(seed, name, usual))
}
