import type { SteppedClock } from '../../../sandbox/aws/clock.ts'
import { queueNames } from '../../../shared/queues/messages.ts'
import { type Faults, randomOfFault } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, midnightAfter } from '../invariants/time-and-money.ts'
import { type Operators, resultOf } from '../peers/operators.ts'
import { simulatedProviders } from './fixtures.ts'
import type { Scenario } from './scenario.ts'
import { HTTP_BANKS } from './script.ts'

const RECONCILED_MS = 2 * HOUR_MS
const RECONCILES = { triesMax: 3 }

type Nights = { clock: SteppedClock; random: Random; faults: Faults; operators: Operators }

/** Reads the debits of each bank in pages, to compare them with its statement. */
const compareStatements = async (operators: Operators, date: string): Promise<void> => {
  for (const bank of HTTP_BANKS) {
    let cursor: unknown = null
    do {
      const options = { bank, statement: JSON.stringify({ cursor }), date }
      cursor = resultOf(await operators.operate('reconciliation', 'statement', options))?.next
    } while (cursor)
  }
}

/** Schedules the operators' settlements in some nights, and a reconciliation in each. */
export const startNights = (scenario: Scenario, { clock, random, faults, operators }: Nights) => {
  const firstNight = midnightAfter(scenario.startAt)
  for (let night = firstNight; night < scenario.healAt; night += DAY_MS) {
    clock.at(night + random.below(HOUR_MS), () => {
      if (!faults.strikes('operator settles')) return
      void operators.operate('settlement', 'run', { date: dayOf(night) })
    })
  }
  if (scenario.faults.has('index far behind')) {
    clock.at(scenario.healAt + MINUTE_MS, async () => {
      for (let at = scenario.startAt; at < midnightAfter(scenario.healAt); at += DAY_MS)
        for (const { id: provider } of simulatedProviders)
          await operators.operate('debit', 'repair', { provider, date: dayOf(at) })
    })
  }
  if (scenario.faults.has('dead letters redriven')) {
    const wait = randomOfFault(scenario.seed, 'dead letters redriven', 1).between(0, 20 * HOUR_MS)
    clock.at(scenario.healAt + wait, async () => {
      for (const queue of queueNames) {
        const call = await operators.operate('dead-letters', 'redrive', { queue })
        if (resultOf(call)?.moved > 0) faults.hit('dead letters redriven')
      }
    })
  }
  for (let night = firstNight; night < scenario.endAt; night += DAY_MS) {
    const isLast = night + DAY_MS >= scenario.endAt
    if (!isLast) continue
    clock.at(night + RECONCILED_MS, async () => {
      // Each night has its own reconciliation; the operators check what the faults of each day left.
      for (let day = firstNight; day <= night; day += DAY_MS) {
        const date = dayOf(day - DAY_MS)
        await operators.operate('reconciliation', 'run', { date }, RECONCILES)
      }
      await compareStatements(operators, dayOf(night - DAY_MS))
      const span = { from: dayOf(firstNight - DAY_MS), to: dayOf(night) }
      await operators.operate('change', 'verify', span)
    })
  }
}
