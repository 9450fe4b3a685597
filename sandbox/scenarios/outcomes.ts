import type { FailureCode } from '../../shared/domain/banks/failure-code.ts'
import { failureMessages } from '../../shared/domain/banks/sandbox-outcome.ts'
import { clocks } from '../../shared/domain/debits/timeouts.ts'
import { secondsAfter } from '../../shared/domain/time.ts'
import { environment } from '../../shared/runtime.ts'
import { whileBankBehaves } from './bank-behaviour.ts'
import { BANK, conflict, type Play, type PlayedDebit } from './play.ts'

/** Outcomes of a debit: reports of its bank, timeouts, and the end of an outage. */

export const complete = async (play: Play) => {
  const { reference, status, bank_reference } = await play.complete(await play.open())
  return { reference, status, bank_reference }
}

export const failWith = (code: FailureCode) => async (play: Play) => {
  const debit = await play.fail(await play.open(), failureMessages[code])
  const { reference, status, error_code, error_message } = debit
  return { reference, status, error_code, error_message }
}

const timesOf = ({ reference, created_at, processed_at }: PlayedDebit) => {
  if (!processed_at) return conflict(`${reference} was not submitted to its bank`)
  const { approvalSeconds, processingSeconds } = clocks(environment.timeScale)
  return {
    approval: secondsAfter(new Date(processed_at), approvalSeconds),
    processing: secondsAfter(new Date(created_at), processingSeconds),
  }
}

const expectNoDebit = ({ reference, misfit }: Play): void => {
  if (reference !== undefined) misfit('does not apply: the scenario creates its debit')
}

export const staySilent = async (play: Play) => {
  expectNoDebit(play)
  const debit = await play.charge()
  const { reference, status } = debit
  return { reference, status, times_out_at: timesOf(debit).approval.toISOString() }
}

/** The timer can be a minute late. */
const LATE_SECONDS = 60

const timeOut = async (play: Play, reference: string, at: Date) => {
  await play.moveTo(at)
  const debit = await play.show(reference)
  if (debit.status === 'processing') await play.moveTo(secondsAfter(at, LATE_SECONDS))
  const { status, error_code, error_message } = await play.show(reference)
  if (error_code !== 'timeout') conflict(`${reference} is ${status} before the timeout`)
  return { reference, status, error_code, error_message }
}

export const timeOutBeforeApproval = async (play: Play) => {
  const debit = await play.debit(['processing'])
  return timeOut(play, debit.reference, timesOf(debit).approval)
}

export const timeOutAfterApproval = async (play: Play) => {
  const debit = await play.debit(['processing'])
  await play.accept(debit, { status: 'approved' })
  return timeOut(play, debit.reference, timesOf(debit).processing)
}

/** A debit waits, so that the bank is down after this time. */
const DOWN_SECONDS = 150

/** The sweep probes the bank each minute, and then its debits are submitted. */
const RECOVERY_SECONDS = 75

const healthOf = async ({ operate }: Play) => (await operate('bank', 'show', { bank: BANK })).health

export const breakDown = async (play: Play) => {
  expectNoDebit(play)
  if (clocks(environment.timeScale).processingSeconds < DOWN_SECONDS)
    play.misfit(
      'needs a sandbox with a smaller --time-scale: its debit fails before the bank is down',
    )
  const wait = (seconds: number) => play.moveTo(secondsAfter(play.control.clock.now(), seconds))
  const { reference, down } = await whileBankBehaves(play, BANK, 'down', async () => {
    const debit = await play.charge({ status: 'pending' })
    await wait(DOWN_SECONDS)
    const health = await healthOf(play)
    if (health.state !== 'down') conflict(`${BANK} is ${health.state}`)
    return { reference: debit.reference, down: health }
  })
  await wait(RECOVERY_SECONDS)
  const { status } = await play.untilStatus(reference, 'processing')
  return { reference, status, down_since: down.since, up_since: (await healthOf(play)).since }
}
