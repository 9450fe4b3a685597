import { isHeldBy } from '../domain/operator/restore.ts'
import type { Day } from '../domain/time.ts'
import type { Runtime } from '../runtime.ts'
import { findRestore } from '../store/operator/restores.ts'
import { listProviders } from '../store/providers/providers.ts'
import { findBatches, listFailed, listPayable } from '../store/settlement/batches.ts'
import { checkBatches } from './batches.ts'
import { checkExceptions, checkRefunds } from './cases.ts'
import { checkDebits, checkEarlier } from './debits.ts'
import { newFindings } from './findings.ts'
import { checkLedger } from './ledger-checks.ts'
import { type Window, windowOf } from './records.ts'
import { noMoney } from './sums.ts'

/**
 * Checks the debits of a day, their related items, totals and batches, and the ledger
 * (docs/api.md#reconciliation). Computes everything again from the table and repairs nothing: an
 * operator must know the cause first.
 */
export const reconcile = async (date: Day, { now }: Pick<Runtime, 'now'>) => {
  const restore = await findRestore()
  const window = { ...windowOf(date, now()), restore }
  const findings = newFindings()
  // Covers the debits created on the day.
  let money = noMoney
  await checkExceptions(window, findings)
  await checkRefunds(window, findings)
  const unpaid = await findUnpaid(window)
  const providers = await listProviders()
  for (const provider of providers) {
    money = await checkDebits(provider, window, findings, money)
    await checkEarlier(provider, window, findings)
    await checkBatches(provider, unpaid.get(provider) ?? [], window, findings)
  }
  await checkLedger(window, findings)
  const invariants = findings.list()
  const differences = invariants.reduce((sum, finding) => sum + finding.differences, 0)
  // Their timeouts, payouts and refunds wait.
  const held = providers.filter((provider) => isHeldBy(restore, provider))
  return { date, checkedAt: window.now, invariants, money, differences, held }
}

/** Returns the batches that are due or failed, by provider. */
const findUnpaid = async ({ now }: Window) => {
  const ids = await Promise.all([listPayable(now), listFailed(now)])
  return Map.groupBy(await findBatches(ids.flat()), ({ provider }) => provider)
}
