import * as v from 'valibot'
import type { ApiEvent } from '../../../shared/api/context.ts'
import { bodyGuards, queryGuard } from '../../../shared/api/input-guards.ts'
import { operations } from '../../../shared/api/operations.ts'
import { failureCode } from '../../../shared/domain/banks/failure-code.ts'
import { Fee } from '../../../shared/domain/money.ts'
import type { Measure } from '../figures.ts'
import { spreadOf } from '../samples.ts'

/** The time to read texts whose length callers and banks choose: a quadratic reader would hold a worker. */

const LENGTH = 16_000
const READS_PER_ROUND = 20

const readType = (type: string) => {
  const [guard] = bodyGuards(operations.charge)
  const context = { headers: new Map([['content-type', [type]]]) }
  return () => guard?.before?.({ event: { body: '{}', context } as unknown as ApiEvent } as never)
}

const readQuery = (names: readonly string[]) => {
  const guard = queryGuard(operations['list-debit-requests'])
  const multiValueQueryStringParameters = Object.fromEntries(names.map((name) => [name, ['1']]))
  return () => guard.before?.({ event: { context: {}, multiValueQueryStringParameters } } as never)
}

const readers: Record<string, (length: number) => () => unknown> = {
  'zeros before the last digit of a fee': (length) => () =>
    v.safeParse(Fee, `0.${'0'.repeat(length)}1`),
  'blanks in a charset': (length) => readType(`application/json; charset=${' '.repeat(length)};`),
  'blanks in a quoted charset': (length) =>
    readType(`application/json; charset="${' '.repeat(length)}"x`),
  'parameters of one name': (length) =>
    readQuery(Array.from({ length: length / 8 }, (_, index) => `page[${index}]`)),
  'blanks in an explanation': (length) => () => failureCode(`account${' '.repeat(length)}x`),
}

/** Returns the least of several times, in ms, which other load changes least. */
const timeOf = (read: () => unknown): number =>
  Math.min(
    ...Array.from({ length: READS_PER_ROUND }, () => {
      const start = performance.now()
      try {
        read()
      } catch {
        // A refusal is a result, too.
      }
      return performance.now() - start
    }),
  )

const measure: Measure = async ({ rounds }) => ({
  title: 'Long texts',
  explanation: `A text of ${4 * LENGTH} characters against one of ${LENGTH}: a quadratic reader takes 16 times as long.`,
  figures: Object.entries(readers).map(([name, reader]) => {
    const [long, short] = [reader(4 * LENGTH), reader(LENGTH)]
    const times = Array.from({ length: rounds }, () => [timeOf(long), timeOf(short)] as const)
    const ratio = spreadOf(times.map(([ours, base]) => ours / base))
    const [ours, base] = [
      spreadOf(times.map(([one]) => one)),
      spreadOf(times.map(([, one]) => one)),
    ]
    return {
      ...{ name, unit: 'ms' as const, against: 'a quarter of the text', ratio },
      ...{ ours: ours.median, base: base.median, target: { ratioAtMost: 10 } },
    }
  }),
})

export const parts = { inputs: measure }
