import { paymentConnectors } from '../../shared/banks/registry.ts'
import { findMadeLater } from '../../shared/banks/rejected-payments.ts'
import { type Debit, predatesRestore } from '../../shared/domain/debits/debit.ts'
import { blocksRefund } from '../../shared/domain/debits/exception.ts'
import {
  completeRefund,
  type Refund,
  refundStatuses,
  sendRefund,
  unsentRefunds,
} from '../../shared/domain/debits/refund.ts'
import { isHeldBy, type Restore } from '../../shared/domain/operator/restore.ts'
import { mayBeInFlight, type PayoutResult } from '../../shared/domain/settlement/payout.ts'
import { log } from '../../shared/log.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { connectionConfig } from '../../shared/store/banks/connector-settings.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { recordRefundFailure } from '../../shared/store/debits/refund-failures.ts'
import { findRefund, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { findRestore } from '../../shared/store/operator/restores.ts'

const OWN = 'job:refund-customer'

/** A query and a refund must both end within the function's time. */
const TIMEOUT_SECONDS = 20

/**
 * Instructs the bank to refund a customer (docs/api.md#refunds). The instruction is stored before it is
 * sent. A worker that finds it stored queries the bank before it sends the same uuid again. While a
 * restore holds the provider, a refund waits: the sweep sends its message again. A contradiction that the
 * bank reported after the reversal fails a refund that no bank has seen, also one that waited in an
 * outage. So does a bank that has made or is making the refund which it rejected before: the customer
 * would be paid twice. A failover can lose the reversal of a refund, which then waits until an operator
 * repeats it.
 */
export const refundCustomer = (runtime: Runtime) =>
  consumer('refunds', async ({ reference }) => {
    const refund = await findRefund(reference)
    if (!refund || !refundStatuses[refund.status].isOpen) return
    const restore = await findRestore()
    if (isHeldBy(restore, refund.provider)) return
    const debit = await findDebit(reference)
    if (refund.origin === 'reversal' && debit?.status !== 'reversed') return
    const connector = await findConnector(refund, runtime)
    if (!connector) return rejectUnsent(refund, runtime)
    const isBegun = refund.status === 'processing'
    const repeated = isBegun || (restore !== undefined && mayBeUndone(debit, restore))
    const queryRefund = async ({ uuid }: Pick<Refund, 'uuid'>) =>
      connector.query?.({ ...refund, kind: 'refund', uuid })
    const isContradicted = (await findExceptions(reference)).some(blocksRefund)
    const isUnknown = isBegun && !connector.query
    if (isContradicted && !isUnknown && !(repeated && (await queryRefund(refund)))) {
      // The sweep sends the message again.
      if (isBegun && mayBeInFlight(refund, runtime.now())) return
      return recordFailure(refund, unsentRefunds.contradicted, OWN, runtime)
    }
    const made = await findMadeLater(isBegun ? [] : refund.failed, queryRefund)
    if (made) return recordFailure(refund, unsentRefunds[made.kind], OWN, runtime)
    const sent = await replaceRefund(refund, sendRefund(refund, runtime.now()), [], runtime)
    // Another worker wrote first: it sends the refund or has failed it.
    if (!sent) return
    const result = await connector.refund({ ...sent, repeated })
    log.info('refund instructed', { reference, bank: sent.bank, repeated, result: result.kind })
    await recordResult(sent, result, runtime)
  })

/** A restore may have undone the record of a refund that the bank has made, or of its reversal. */
const mayBeUndone = (debit: Debit | undefined, { generation }: Restore): boolean =>
  predatesRestore(debit ?? { history: [] }, generation)

/** Returns undefined if the bank has no connector. */
const findConnector = async ({ bank }: Refund, runtime: Runtime) => {
  const current = await findBank(bank)
  if (!current || current.connector === 'none') return undefined
  return paymentConnectors(connectionConfig(runtime, TIMEOUT_SECONDS))[current.connector]
}

/** Fails a refund that was never sent. One that may have been sent waits for a connector. */
const rejectUnsent = async (refund: Refund, runtime: Runtime): Promise<void> => {
  if (refund.status === 'processing') {
    throw new Error(`The bank of the refund of ${refund.reference} no longer exists`)
  }
  await recordFailure(refund, unsentRefunds.unsupported, OWN, runtime)
}

const recordResult = async (refund: Refund, result: PayoutResult, runtime: Runtime) => {
  if (result.kind === 'underway') return
  if (result.kind === 'rejected') {
    return recordFailure(refund, result.message, `bank:${refund.bank}`, runtime)
  }
  const { bankReference } = result
  const completed = completeRefund(refund, { bankReference, at: runtime.now() })
  await replaceRefund(refund, completed, [], runtime)
}

const recordFailure = async (refund: Refund, failure: string, by: string, runtime: Runtime) => {
  const { reference, bank } = refund
  if (await recordRefundFailure(refund, { failure, by }, [], runtime)) {
    // The exception has the failure, which is text of the bank.
    log.error('refund failed', { reference, bank, by })
  }
}

export const handler = refundCustomer(real)
