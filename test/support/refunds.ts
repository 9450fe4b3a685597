import type { Reference } from '../../shared/domain/ids.ts'
import { real } from '../../shared/runtime.ts'
import { findRefund, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { eventually } from './eventually.ts'

/** Waits until a refund is in progress, and makes its last sending a minute older: no worker is sending it. */
export const untilRefundWaits = (reference: string): Promise<void> =>
  eventually(async () => {
    const refund = await findRefund(reference as Reference)
    if (refund?.status !== 'processing') throw new Error(`The refund is ${refund?.status}`)
    const sentAt = new Date(Date.now() - 61_000)
    if (!(await replaceRefund(refund, { ...refund, sentAt }, [], real))) throw new Error('changed')
  })
