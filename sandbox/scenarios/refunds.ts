import { whileBankBehaves } from './bank-behaviour.ts'
import type { Play, PlayedDebit } from './play.ts'

/** Reversals of completed debits, which their banks refund. */

/** Reverses a debit and waits until its refund has a status. */
const reverse = async (
  play: Play,
  { reference }: PlayedDebit,
  expected: 'completed' | 'failed',
) => {
  await play.operate('debit', 'reverse', { reference, reason: 'Goods returned' })
  const { status, refund } = await play.until(
    () => play.show(reference),
    (debit) => debit.refund?.status === expected && debit,
  )
  return { reference, status, refund }
}

export const refund = async (play: Play) => reverse(play, await play.completed(), 'completed')

export const rejectRefund = async (play: Play) => {
  const debit = await play.completed()
  const reversed = await whileBankBehaves(play, debit.bank, 'rejecting', () =>
    reverse(play, debit, 'failed'),
  )
  return { ...reversed, exceptions: await play.exceptions(debit) }
}
