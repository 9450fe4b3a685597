import { CURRENCY } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type BatchId, dayOf } from '../../shared/domain/settlement/batch.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { settlement } from '../../shared/operator/nouns/settlement.ts'
import { defined } from '../../shared/operator/options.ts'
import { buildBatchMessage, payBatchMessage } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { environment, real } from '../../shared/runtime.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { paymentDeps } from '../../shared/settlement/payment-deps.ts'
import { readReport } from '../../shared/settlement/report/bucket.ts'
import { runSettlement } from '../../shared/settlement/run.ts'
import { changeWrites, putChange } from '../../shared/store/operator/changes.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'
import { findBatch, listBatches } from '../../shared/store/settlement/batches.ts'
import { batchView } from '../../shared/views/batch.ts'

/** Of the function's own time, what a run may use; the rest is left to the jobs. */
const RUN_MS = 20_000

const noSuchProvider = () => new Refusal(1404, { details: 'no such provider' })

const isEmpty = ({ length }: readonly unknown[]): boolean => length === 0

const shown = (batch: Awaited<ReturnType<typeof payBatch>>) =>
  batch instanceof Refusal ? batch : batchView(batch)

/** Records a payment that an operator starts; an unknown batch starts none. */
const recordPayment = async (id: BatchId, author: Author): Promise<void> => {
  const batch = await findBatch(id)
  if (!batch) return
  await putChange(
    { ...author, target: id, provider: batch.provider },
    { from_status: batch.status },
  )
}

export const handler = operatorHandler(settlement, {
  run: async ({ date, provider, currency }, author) => {
    if (currency !== CURRENCY) return new Refusal(5003)
    if (environment.limits === 'production' && date > dayOf(real.now())) {
      return new Refusal(5001, { details: { date: ['must not be in the future'] } })
    }
    if (provider && !(await findProvider(provider))) return noSuchProvider()
    await putChange({ ...author, target: date, ...defined({ provider }) }, { date })
    const end = real.now().getTime() + RUN_MS
    const providers = provider ? [provider] : await listProviders()
    const { built, paid, unpaid, left, due } = await runSettlement(
      date,
      providers,
      paymentDeps(real),
      () => real.now().getTime() >= end,
    )
    await sendAllOrThrow([
      ...left.map((provider) => buildBatchMessage(provider, date)),
      ...due.map((batch) => payBatchMessage(batch.id, batch.provider)),
    ])
    if (provider && [built, paid, unpaid, left, due].every(isEmpty)) return new Refusal(5002)
    return {
      date,
      built: built.map((batch) => batchView(batch)),
      paid: paid.map((batch) => batchView(batch)),
      unpaid: unpaid.map(({ batch, reason }) => ({
        batch,
        ...reason.error,
        details: reason.details,
      })),
      in_work: [...left, ...due.map(({ id }) => id)],
    }
  },
  list: async ({ provider, limit }) => {
    if (!(await findProvider(provider))) return noSuchProvider()
    return (await listBatches(provider, { limit })).map((batch) => batchView(batch))
  },
  show: async ({ batch }) => {
    const found = await findBatch(batch)
    return found ? batchView(found) : new Refusal(5404)
  },
  /** As the provider reads it: a document, or the text of a CSV file. */
  report: async ({ batch, format }) => {
    const found = await findBatch(batch)
    if (!found) return new Refusal(5404)
    if (!found.reportedAt) return new Refusal(5001, { details: 'the batch is being built' })
    const report = await readReport(found, format)
    if (!report) throw new Error(`The ${format} report of ${batch} is gone`)
    if ('url' in report) return report
    return format === 'csv' ? report.text : JSON.parse(report.text)
  },
  process: async ({ batch }, author) => {
    await recordPayment(batch, author)
    return shown(await payBatch(batch, paymentDeps(real)))
  },
  complete: async ({ batch, 'bank-reference': bankReference, reason }, author) =>
    shown(
      await completeBatch(batch, bankReference, real, (before, after) =>
        changeWrites(
          { ...author, target: batch, provider: before.provider },
          { status: before.status },
          { status: after.status, bank_reference: bankReference, reason },
        ),
      ),
    ),
  retry: async ({ batch }, author) => {
    await recordPayment(batch, author)
    return shown(await retryBatch(batch, paymentDeps(real)))
  },
})
