import { isOpen, statuses } from '../domain/debits/lifecycle.ts'
import { formatAmount } from '../domain/money.ts'
import type { OpenMatter } from '../domain/operator/day-closing.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { logUnreadable } from '../log.ts'
import { newMatter, openExceptions } from '../reconciliation/open-matters.ts'
import { countDebits } from '../store/debits/debit-lists.ts'
import { findBatches, listBatchTimes } from '../store/settlement/batches.ts'
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

const heldBatch = ({ id, totals, outstanding }: Batch): OpenMatter => {
  const reason =
    outstanding < 0
      ? `the provider owes ${formatAmount(BigInt(-outstanding))}`
      : `the payout of ${totals ? formatAmount(totals.net) : 'an unsealed batch'} is not made`
  return newMatter('batch', id, reason, `operator settlement show --batch ${id}`)
}

/** Names what is open with a provider: debits in progress, unsettled ones, payouts, debts, exceptions. */
export const openWith = async (provider: ProviderId, now: Date): Promise<OpenMatter[]> => {
  const times = (await listBatchTimes(provider)).filter(({ completedAt }) => completedAt === null)
  const [debits, exceptions, isUnsettled, batches] = await Promise.all([
    openDebits(provider),
    openExceptions({ before: now, provider }),
    hasUnsettled(provider, now),
    findBatches(times.map(({ id }) => id)),
  ])
  const command = `operator settlement list --provider ${provider}`
  return [
    ...debits,
    ...(isUnsettled
      ? [newMatter('batch', provider, 'debits or reversals are not settled', command)]
      : []),
    ...batches.map(heldBatch),
    ...exceptions,
  ]
}
