import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import type { ResultOf } from '../../shared/operator/results.ts'
import { whileBankBehaves } from './bank-behaviour.ts'
import { conflict, type Play, type PlayedDebit } from './play.ts'

/** Settlement of completed debits by the run of the next day, and payouts of their batches. */

type PlayedBatch = ResultOf<'settlement', 'show'>

const run = ({ operate, control }: Play, { provider }: PlayedDebit) =>
  operate('settlement', 'run', { date: dayAfter(dayOf(control.clock.now())), provider })

const sealed = (play: Play, batch: string) =>
  play.until(
    () => play.operate('settlement', 'show', { batch }),
    (shown) => shown.net !== null && shown,
  )

/** Returns the batch of a debit. */
const settle = async (play: Play, debit: PlayedDebit) => {
  if (!debit.settlement) await run(play, debit)
  const batch = await play.until(
    () => play.show(debit.reference),
    ({ settlement }) => settlement?.batch_id,
  )
  return sealed(play, batch)
}

/**
 * Settles and pays a debit until its batch is as expected. If batches below zero take its whole net,
 * it continues with another debit.
 * @returns the last debit and its batch
 */
const payOut = async (
  play: Play,
  first: PlayedDebit,
  isExpected: (batch: PlayedBatch) => boolean,
  process = (batch: string) => play.operate('settlement', 'process', { batch }),
) => {
  for (let debit = first; ; ) {
    const settled = await settle(play, debit)
    const isPayable = settled.status === 'pending' && Number(settled.net) > 0
    const batch = isPayable ? await process(settled.id) : settled
    if (isExpected(batch)) return { debit, batch }
    if (['processing', 'failed'].includes(batch.status)) conflict(`${batch.id} is ${batch.status}`)
    if (play.reference) play.misfit(`is in ${batch.id}, which is ${batch.status}`)
    debit = await play.complete(await play.charge())
  }
}

const viewOf = ({ id, status, net, paid, failure, bank_reference }: PlayedBatch) => ({
  id,
  status,
  net,
  paid,
  failure,
  bank_reference,
})

export const settleAndPay = async (play: Play) => {
  const { debit, batch } = await payOut(
    play,
    await play.completed(),
    ({ status, paid }) => status === 'completed' && Number(paid) > 0,
  )
  return { reference: debit.reference, status: debit.status, batch: viewOf(batch) }
}

export const rejectPayout = async (play: Play) => {
  const first = await play.completed()
  const provider = await play.operate('provider', 'show', { provider: first.provider })
  const bank = provider.settlement_account?.bank
  if (!bank) return conflict(`${first.provider} has no settlement account`)
  // The bank, which may be that of the debits, rejects during the payout alone.
  const { debit, batch } = await payOut(
    play,
    first,
    ({ status }) => status === 'failed',
    (id) =>
      whileBankBehaves(play, bank, 'rejecting', () =>
        play.operate('settlement', 'process', { batch: id }),
      ),
  )
  return { reference: debit.reference, status: debit.status, batch: viewOf(batch) }
}

/** A reversal after the settlement: the next batch takes the amount back from the provider. */
export const goBelowZero = async (play: Play) => {
  const debit = await play.completed({ amount: '5.00' })
  const { reference } = debit
  const { id: settled_in } = await settle(play, debit)
  await play.operate('debit', 'reverse', { reference, reason: 'Goods returned' })
  await run(play, debit)
  const { status, adjustedIn } = await play.until(
    () => play.show(reference),
    ({ status, settlement }) =>
      settlement?.adjusted_in && { status, adjustedIn: settlement.adjusted_in },
  )
  const batch = await sealed(play, adjustedIn)
  return { reference, status, settled_in, batch: viewOf(batch) }
}
