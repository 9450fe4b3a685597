import { isOpen, statuses } from '../domain/debits/lifecycle.ts'
import { formatAmount, type Pesewas } from '../domain/money.ts'
import type { OpenMatter } from '../domain/operator/day-closing.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { logUnreadable } from '../log.ts'
import { newMatter, openExceptions } from '../reconciliation/open-matters.ts'
import { findDueOfEach, inOrderOfPayment } from '../settlement/due.ts'
import { countDebits } from '../store/debits/debit-lists.ts'
import { listUnpaid } from '../store/settlement/batches.ts'
import { hasUnsettled } from '../store/work-index.ts'

const IN_PROGRESS = statuses.filter(isOpen)

const openDebits = async (provider: ProviderId): Promise<OpenMatter[]> => {
  const matters = IN_PROGRESS.map(async (status) => {
    const filter = { status }
    const { count } = await countDebits(provider, filter, logUnreadable('open debits'))
    const command = `operator debit list --provider ${provider} --status ${status}`
    return count === 0
      ? []
      : [newMatter('debit', status, `${count} debits are in progress`, command)]
  })
  return (await Promise.all(matters)).flat()
}

const batchReason = (batch: Batch, due: Pesewas | undefined): string | undefined => {
  const { status, totals, outstanding, paid, failure } = batch
  if (!totals) return 'the batch is not sealed'
  if (outstanding < 0) return `the provider owes ${formatAmount(BigInt(-outstanding))}`
  if (status === 'processing') return `the payout of ${formatAmount(paid ?? 0n)} is in progress`
  // A payout in progress offsets it.
  if (due === undefined) return undefined
  const payout = `the payout of ${formatAmount(paid ?? due)}`
  const instead = due === paid ? '' : `, ${formatAmount(due)} is due`
  if (status === 'failed') return `${payout} failed${instead}: ${failure}`
  return `${payout} is not made`
}

/** Names batches in the order of their payment, so that an operator can pay and record them in it. */
const batchMatters = async (unpaid: readonly Batch[]): Promise<OpenMatter[]> => {
  const batches = inOrderOfPayment(unpaid)
  const unbegun = batches.filter(
    ({ status, totals }) => status !== 'processing' && totals && totals.net >= 0,
  )
  const dues = await findDueOfEach(unbegun)
  return batches.flatMap((batch) => {
    const reason = batchReason(batch, dues.get(batch.id))
    const command = `operator settlement show --batch ${batch.id}`
    return reason ? [newMatter('batch', batch.id, reason, command)] : []
  })
}

/** Names what is open with a provider: debits in progress, unsettled ones, payouts, debts, exceptions. */
export const openWith = async (provider: ProviderId, now: Date): Promise<OpenMatter[]> => {
  const [debits, exceptions, isUnsettled, batches] = await Promise.all([
    openDebits(provider),
    openExceptions({ before: now, provider }),
    hasUnsettled(provider, now),
    listUnpaid(provider),
  ])
  const command = `operator settlement list --provider ${provider}`
  return [
    ...debits,
    ...(isUnsettled
      ? [newMatter('batch', provider, 'debits or reversals are not settled', command)]
      : []),
    ...(await batchMatters(batches)),
    ...exceptions,
  ]
}
