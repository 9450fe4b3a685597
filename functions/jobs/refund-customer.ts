import { refundOperations } from '../../shared/banks/registry.ts'
import {
  beginRefund,
  completeRefund,
  failRefund,
  type Refund,
} from '../../shared/domain/debits/refund.ts'
import { isHeldBy } from '../../shared/domain/operator/restore.ts'
import type { PayoutResult } from '../../shared/domain/settlement/payout.ts'
import { log } from '../../shared/log.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { exceptionWrite } from '../../shared/store/debits/exceptions.ts'
import { findRefund, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { findRestore } from '../../shared/store/operator/restores.ts'

/** A query and an instruction after it must both end inside the function's own time. */
const EXCHANGE_SECONDS = 20

/**
 * Instructs the bank to refund a customer. The instruction is recorded before it is sent. A worker
 * that finds it recorded queries the bank before it sends the same uuid again. While its provider is
 * held after a restore, a refund waits: the sweep sends its message again.
 */
export const refundCustomer = (runtime: Runtime) =>
  consumer('refunds', async ({ reference }) => {
    const refund = await findRefund(reference)
    if (refund?.status !== 'pending' && refund?.status !== 'processing') return
    const restore = await findRestore()
    if (isHeldBy(restore, refund.provider)) return
    const refundAtBank = await operationOf(refund, runtime)
    if (!refundAtBank) return rejectUnsent(refund, runtime)
    const isBegun = refund.status === 'processing'
    // A restore may have undone the record of a refund that the bank has made, or of its reversal.
    const repeated = isBegun || restore !== undefined
    const begun = isBegun
      ? refund
      : await replaceRefund(refund, beginRefund(refund, runtime.now()), runtime)
    // Another worker was first, and sends it.
    if (!begun) return
    const result = await refundAtBank({ ...begun, repeated })
    log.info('refund instructed', { reference, bank: begun.bank, repeated, result: result.kind })
    await recordResult(begun, result, runtime)
  })

/** @returns undefined when the bank of the debit takes no refunds */
const operationOf = async ({ bank }: Refund, { now }: Runtime) => {
  const current = await findBank(bank)
  if (!current || current.connector === 'none') return undefined
  return refundOperations({
    settingsOf: findConnectorSettings,
    now,
    timeoutSeconds: EXCHANGE_SECONDS,
    localPeers: environment.localPeers,
  })[current.connector]
}

/** Fails a refund that cannot be sent. One that may have been sent waits for a connector. */
const rejectUnsent = async (refund: Refund, runtime: Runtime): Promise<void> => {
  if (refund.status === 'processing') {
    throw new Error(`The bank of the refund of ${refund.reference} no longer exists`)
  }
  await recordFailure(refund, 'the bank does not support refunds', 'job:refund-customer', runtime)
}

const recordResult = async (
  refund: Refund,
  result: PayoutResult,
  runtime: Runtime,
): Promise<void> => {
  switch (result.kind) {
    case 'underway':
      return
    case 'rejected':
      return recordFailure(refund, result.message, `bank:${refund.bank}`, runtime)
    case 'paid': {
      const { bankReference } = result
      const completed = completeRefund(refund, { bankReference, at: runtime.now() })
      await replaceRefund(refund, completed, runtime)
    }
  }
}

/** In one transaction with the exception that brings the failure before an operator. */
const recordFailure = async (
  refund: Refund,
  failure: string,
  by: string,
  runtime: Runtime,
): Promise<void> => {
  const at = runtime.now()
  const { reference, provider, bank, amount, uuid, origin } = refund
  const exception = exceptionWrite({
    reference,
    kind: 'refund',
    at,
    provider,
    bank,
    amount,
    by,
    requestId: uuid,
    status: origin === 'reversal' ? 'reversed' : 'failed',
    report: failure,
  })
  const failed = failRefund(refund, { failure, at })
  if (await replaceRefund(refund, failed, runtime, [exception])) {
    log.error('refund failed', { reference, bank, failure })
  }
}

export const handler = refundCustomer(real)
