import type { ResultOf } from '../../shared/operator/results.ts'
import { eventually, expectParts, Mismatch, required } from '../expect.ts'
import { findIn, paths } from './api.ts'
import { type ChargedDebit, INDEX_SECONDS, SUBMISSION_SECONDS } from './charges.ts'
import type { CheckDeps, CheckSequence } from './checks.ts'
import type { Objects } from './objects.ts'
import type { operatorCommandOf } from './target.ts'

/** Settles the completed debits of the run, and reconciles their day. */

const DAY_MS = 86_400_000

/** Expects two completed debits: one of 100.00 with a fee of 1.50, and one of 50.00. */
export const settlementChecks = (
  { api, objects, operator, signal }: CheckDeps,
  getDebit: () => ChargedDebit,
): CheckSequence => {
  const { token, provider } = objects
  let batch: ResultOf<'settlement', 'show'> | undefined
  const getBatch = () => required(batch, 'a batch')
  return [
    {
      name: 'settlement-run',
      run: async () => {
        const date = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
        const { built } = await eventually(
          () => operator('settlement', 'run', { date, provider }),
          { seconds: INDEX_SECONDS, signal },
        )
        // 1.50 as the bank reports, and 1.5 % of 50.00.
        const sums = { debits: 2, gross: '150.00', fee: '2.25', net: '147.75' }
        batch = built[0]
        expectParts(built, [{ status: 'pending', ...sums }])
      },
    },
    {
      name: 'settlement-report-json',
      run: async () => {
        const path = `${paths.settlements}/${getBatch().id}/report`
        const { body } = await api.expect({ path, token }, 200, {
          data: { totals: { count: 2, net: '147.75' } },
        })
        const { lines } = body.data as { lines: unknown }
        findIn(lines, { reference: getDebit().reference, gross: '100.00', net: '98.50' })
      },
    },
    {
      name: 'settlement-report-csv',
      run: async () => {
        const path = `${paths.settlements}/${getBatch().id}/report?format=csv`
        const { text, headers } = await api.expect({ path, token }, 200)
        expectParts({ type: headers.get('Content-Type') }, { type: 'text/csv; charset=utf-8' })
        const expected = 'total,,,,,150.00,2.25,147.75,GHS'
        if (!text.includes(expected))
          throw new Mismatch(expected, text.trimEnd().split('\n').at(-1))
      },
    },
    {
      name: 'payout',
      run: async () => {
        const { id } = getBatch()
        await operator('settlement', 'process', { batch: id })
        await eventually(
          () =>
            api.expect({ path: `${paths.settlements}/${id}`, token }, 200, {
              data: { status: 'completed', paid: '147.75' },
            }),
          { seconds: SUBMISSION_SECONDS, signal },
        )
      },
    },
  ]
}

/** Ignores differences of other providers. */
export const reconciliationChecks = (
  { bank, provider, signing }: Objects,
  command: ReturnType<typeof operatorCommandOf>,
  since: Date,
): CheckSequence => [
  {
    name: 'reconcile',
    run: async () => {
      const date = since.toISOString().slice(0, 10)
      type Checked = Extract<ResultOf<'reconciliation', 'run'>, { date: unknown }>
      const { invariants } = await command<Checked>('reconcile', '--date', date)
      const own = new Set<string>([bank, provider, signing.provider])
      const examples = invariants
        .flatMap(({ examples }) => examples)
        .filter(({ provider = '' }) => own.has(provider))
      expectParts(examples, [])
    },
  },
]
