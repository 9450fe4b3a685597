import { beforeEach, expect, test, vi } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { draws } from '../../proofs/simulation/engine/random.ts'
import { ringsOf } from '../support/cloudwatch/alarms.ts'
import { banks, DAY, HOUR, TEN } from '../support/cloudwatch/incidents.ts'
import { type Random, STAGE, samplesOf } from '../support/cloudwatch/traffic.ts'
import { templatesOf } from '../support/templates.ts'

/** Plays weeks without an incident on the alarms that are deployed. */

beforeEach(() => {
  vi.stubEnv('METRICS_DISABLED', 'false')
})

const { all } = templatesOf(stageNamed('production'))

/** Draws from a seeded sequence. */
const drawn = (seed: number): Random => {
  const next = draws(seed)
  // A rate below one is one draw; otherwise one for each of n.
  return (_, n, probability) => {
    if (n < 1) return next() < n * probability ? 1 : 0
    return Array.from({ length: n }, next).filter((value) => value < probability).length
  }
}

test.each([
  ['3 charges an hour', 3 / HOUR, 1],
  ['3 charges an hour, other outcomes', 3 / HOUR, 2],
  ['20 charges an hour', 20 / HOUR, 3],
  ['5 charges a minute', 5, 4],
])('no alarm rings in a week of %s, a fiftieth of them for one bank', (_, rate, seed) => {
  const span = { from: TEN, before: TEN + 7 * DAY }
  const traffic = { rate, banks, fault: {}, begins: 0, ends: 0, random: drawn(seed) }
  const samples = samplesOf(traffic, { from: TEN - HOUR, before: span.before })
  expect(samples.named('DebitCollection', 'FailureExcess')).toHaveLength(Object.keys(banks).length)
  expect(ringsOf(all, samples, span, `${STAGE}-`)).toEqual([])
})
