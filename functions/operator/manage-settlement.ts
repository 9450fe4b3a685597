import { defined } from '../../shared/domain/complete.ts'
import { CURRENCY, formatAmount } from '../../shared/domain/money.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import { Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import {
  type Batch,
  isEarlyPayout,
  payingBank,
  payoutOf,
} from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { settlement } from '../../shared/operator/nouns/accounting.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { buildBatchMessage, payBatchMessage } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { environment, real, timeLimit } from '../../shared/runtime.ts'
import { completeBatch, findRecordable } from '../../shared/settlement/complete.ts'
import { findPayout, findRetry, findUnderway } from '../../shared/settlement/due.ts'
import { failBatch } from '../../shared/settlement/fail.ts'
import { readStatement } from '../../shared/settlement/monthly-statement.ts'
import { operatorDeps, payBatch, paymentDeps, retryBatch } from '../../shared/settlement/pay.ts'
import { readReport } from '../../shared/settlement/report/bucket.ts'
import { statementCsv, statementPage } from '../../shared/settlement/report/monthly-statement.ts'
import { runSettlement } from '../../shared/settlement/run.ts'
import { changeWrites, putChange } from '../../shared/store/operator/changes.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'
import { batchPages, listKeyOf } from '../../shared/store/settlement/batch-pages.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'
import { monthlyStatementView } from '../../shared/views/monthly-statement.ts'
import { settlementRunView } from '../../shared/views/operator/settlement.ts'

/** The time limit of a run. The jobs continue a longer one. */
const RUN_MS = 20_000

const isEmpty = ({ length }: readonly unknown[]): boolean => length === 0

const viewOf = (result: Batch | Refusal) => unlessRefused(result, batchView)

const dayOption = (options: { 'any-day'?: 'true' | undefined }) => ({
  anyDay: options['any-day'] !== undefined,
})

const recordingOf = ({ id: target, provider }: Batch, author: Author) => ({
  ...author,
  target,
  provider,
})

const objectOf = ({ provider, paid, paidTo }: Batch) =>
  callObject({ provider, amount: paid, account: paidTo })

const payoutRecorder = (author: Author) => (batch: Batch) =>
  changeWrites(recordingOf(batch, author), {}, { from_status: batch.status })

export const manageSettlement = operatorHandler(settlement, {
  run: async ({ date, provider, currency }, author, runtime) => {
    if (currency !== CURRENCY) return new Refusal(5003)
    if (environment.limits === 'production' && date > dayOf(runtime.now())) {
      return new Refusal(5001, { details: { date: ['must not be in the future'] } })
    }
    if (provider && !(await findProvider(provider))) return noSuch('provider')
    await putChange({ ...author, target: date, ...defined({ provider }) }, { date })
    const timeIsUp = timeLimit(runtime, RUN_MS)
    const providers = provider ? [provider] : await listProviders()
    const run = await runSettlement({ date, providers, timeIsUp }, paymentDeps(runtime))
    await sendAllOrThrow([
      ...run.unbuilt.map((provider) => buildBatchMessage(provider, date)),
      ...run.due.map((batch) => payBatchMessage(batch.id, batch.provider)),
    ])
    if (provider && Object.values(run).every(isEmpty)) return new Refusal(5002)
    return settlementRunView(date, run)
  },
  list: async (options, _, runtime) => {
    const { provider, status } = options
    if (provider && !(await findProvider(provider))) return noSuch('provider')
    const providers = provider ? [provider] : await listProviders()
    return pageOf('settlement list', options, runtime, {
      read: (span) => batchPages(providers, span, status),
      keyOf: listKeyOf,
      viewOf: (batch) =>
        status === undefined || batch.status === status ? batchView(batch) : undefined,
    })
  },
  show: async ({ batch: id }) => viewOf((await findBatch(id)) ?? new Refusal(5404)),
  /** Returns what the provider reads: a document, or the text of a CSV file. */
  report: async ({ batch: id, format }) => {
    const batch = await findBatch(id)
    if (!batch) return new Refusal(5404)
    if (!batch.reportedAt) return new Refusal(5001, { details: 'the batch is being built' })
    const report = await readReport(batch, format)
    if (!report) throw new Error(`The ${format} report of ${id} is gone`)
    if ('download' in report) return report
    return format === 'csv' ? report.text : JSON.parse(report.text)
  },
  statement: async ({ provider: id, month, format }, _author, runtime) => {
    const provider = await findProvider(id)
    if (!provider) return noSuch('provider')
    const now = runtime.now()
    const statement = await readStatement(id, month, now)
    if (format === 'csv') return statementCsv(statement)
    return format === 'html'
      ? statementPage(statement, provider.name, now)
      : monthlyStatementView(statement)
  },
  process: {
    run: async ({ batch: id, ...options }, author, runtime, checkApproval) => {
      const refusal = await checkApproval()
      if (refusal) return refusal
      const pay = { ...dayOption(options), recordChange: payoutRecorder(author) }
      return viewOf(await payBatch(id, operatorDeps(runtime), pay))
    },
    check: async ({ batch, ...options }, { at }) =>
      unlessRefused(await findPayout(batch, at, dayOption(options)), objectOf),
    /** A payout that has begun is only queried. */
    needsApproval: async ({ batch: id }, { at }) => {
      const batch = await findBatch(id)
      return batch !== undefined && isEarlyPayout(batch, at)
    },
  },
  complete: {
    run: async ({ batch, reason, ...payout }, author, runtime) => {
      const { 'bank-reference': bankReference, ...evidence } = payout
      const recordChange = (previous: Batch, completed: Batch) => {
        const { status, paid } = completed
        const payout = { paid: paid && formatAmount(paid), bank: payingBank(completed) }
        const next = { status, bank_reference: bankReference, reason, ...payout }
        return changeWrites(recordingOf(previous, author), { status: previous.status }, next)
      }
      return viewOf(
        await completeBatch(batch, { bankReference, ...evidence }, recordChange, runtime),
      )
    },
    check: async ({ batch, ...paid }, { at }) =>
      unlessRefused(await findRecordable(batch, paid, at), ({ batch: stored, begun }) => ({
        ...objectOf(begun.batch),
        // A payout that began after the request is not the one that the operator has paid.
        ...(payoutOf(stored) === 'resumes' ? { uuid: stored.uuid } : {}),
      })),
  },
  fail: {
    run: async ({ batch, reason }, author, runtime) => {
      const recordChange = (previous: Batch, { status, failure }: Batch) =>
        changeWrites(
          recordingOf(previous, author),
          { status: previous.status },
          { status, failure },
        )
      return viewOf(await failBatch(batch, reason, recordChange, runtime))
    },
    check: async ({ batch }, { at }) =>
      unlessRefused(await findUnderway(batch, at), (underway) => ({
        ...objectOf(underway),
        uuid: underway.uuid,
      })),
  },
  retry: {
    run: async ({ batch, ...options }, author, runtime) => {
      const recordChange = payoutRecorder(author)
      return viewOf(
        await retryBatch(batch, recordChange, operatorDeps(runtime), dayOption(options)),
      )
    },
    check: async ({ batch }, { at }) => unlessRefused(await findRetry(batch, at), objectOf),
  },
})

export const handler = manageSettlement(real)
