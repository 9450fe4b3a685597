import type { ResultOf } from '../../shared/operator/results.ts'
import { expectParts, Mismatch } from '../expect.ts'
import { findIn, paths } from './api.ts'
import { type GetDebit, INDEX_SECONDS, SUBMISSION_SECONDS } from './charges.ts'
import type { RunCheck, Smoke } from './checks.ts'
import type { Objects } from './objects.ts'
import type { operatorCommandOf } from './target.ts'

/** Settles the completed debits of the run, and reconciles their day. */

const DAY_MS = 86_400_000

/** Expects two completed debits: one of 100.00 with a fee of 1.50, and one of 50.00. */
export const checkSettlement = async (
  { check, within, api, objects, operator }: Smoke,
  getDebit: GetDebit,
) => {
  const { token, provider } = objects
  const getBatch = await check('settlement-run', async () => {
    const date = new Date(api.now().getTime() + DAY_MS).toISOString().slice(0, 10)
    const run = () => operator('settlement', 'run', { date, provider })
    const { built } = await within(INDEX_SECONDS, run)
    // 1.50 as the bank reports, and 1.5 % of 50.00.
    const sums = { debits: 2, gross: '150.00', fee: '2.25', net: '147.75' }
    expectParts(built, [{ status: 'pending', ...sums }])
    return built[0] as (typeof built)[number]
  })
  const report = () => `${paths.settlements}/${getBatch().id}/report`
  await check('settlement-report-json', async () => {
    const data = { totals: { count: 2, net: '147.75' } }
    const { body } = await api.expect({ path: report(), token }, 200, { data })
    const { lines } = body.data as { lines: unknown }
    findIn(lines, { reference: getDebit().reference, gross: '100.00', net: '98.50' })
  })
  await check('settlement-report-csv', async () => {
    const { text, headers } = await api.expect({ path: `${report()}?format=csv`, token }, 200)
    expectParts({ type: headers.get('Content-Type') }, { type: 'text/csv; charset=utf-8' })
    const expected = 'total,,,,,150.00,2.25,147.75,GHS'
    if (!text.includes(expected)) throw new Mismatch(expected, text.trimEnd().split('\n').at(-1))
  })
  await check('payout', async () => {
    const { id } = getBatch()
    await operator('settlement', 'process', { batch: id })
    const request = { path: `${paths.settlements}/${id}`, token }
    const data = { status: 'completed', paid: '147.75' }
    await within(SUBMISSION_SECONDS, () => api.expect(request, 200, { data }))
  })
}

/** Ignores differences of other providers. */
export const checkReconciliation = (
  check: RunCheck,
  { bank, provider, signing }: Objects,
  command: ReturnType<typeof operatorCommandOf>,
  now: Date,
) =>
  check('reconcile', async () => {
    const date = now.toISOString().slice(0, 10)
    type Checked = Extract<ResultOf<'reconciliation', 'run'>, { date: unknown }>
    const { invariants } = await command<Checked>('reconcile', '--date', date)
    const own = new Set<string>([bank, provider, signing.provider])
    const examples = invariants
      .flatMap(({ examples }) => examples)
      .filter(({ provider = '' }) => own.has(provider))
    expectParts(examples, [])
  })
