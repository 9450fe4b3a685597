import { clocks } from '../../shared/domain/debits/timeouts.ts'
import { secondsAfter } from '../../shared/domain/time.ts'
import { environment } from '../../shared/runtime.ts'
import { whileBankBehaves } from './bank-behaviour.ts'
import { BANK, conflict, type Play } from './play.ts'

/** An outage of a bank, from its first failure to its recovery. */

/** A debit waits, so that the bank is down after this time. */
const DOWN_SECONDS = 150

/** The sweep probes the bank each minute, and then its debits are submitted. */
const RECOVERY_SECONDS = 75

const healthOf = async ({ operate }: Play) => (await operate('bank', 'show', { bank: BANK })).health

export const breakDown = async (play: Play) => {
  if (play.reference !== undefined) play.misfit('does not apply: the scenario creates its debit')
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
