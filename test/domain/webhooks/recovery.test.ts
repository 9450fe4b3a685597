import { expect, test } from 'vitest'
import {
  afterPage,
  automaticRecoveries,
  dueInPage,
  RECOVERY_PAGE,
  RECOVERY_PAGE_SECONDS,
  requestedRecovery,
} from '../../../shared/domain/webhooks/recovery.ts'
import { inSeconds, NOON, providerId } from '../../support/examples.ts'

const opening = { provider: providerId('demo'), id: 'r-1', now: NOON }
const span = { provider: 'demo', id: 'r-1', runAt: NOON, until: NOON }
const fresh = { ...span, status: 'running', page: 0, cursor: null, count: 0 }

test('a requested recovery spans from the requested time to now, an automatic one 72 hours, and its repeat a minute more', () => {
  const since = inSeconds(-14 * 86_400)
  expect(requestedRecovery({ ...opening, since })).toEqual({ ...fresh, kind: 'asked', since })
  const automatic = { ...fresh, kind: 'automatic', since: inSeconds(-72 * 3600) }
  const later = { id: 'r-1-repeat', until: inSeconds(60), runAt: inSeconds(60) }
  expect(automaticRecoveries(opening)).toEqual([automatic, { ...automatic, ...later }])
})

test('a page without events keeps the cursor of the page before', () => {
  const first = { ...automaticRecoveries(opening)[0], cursor: 'c-1' }
  const last = afterPage(first, { cursor: null, retried: 0, isLast: true }, inSeconds(13))
  expect(last).toMatchObject({ status: 'done', cursor: 'c-1' })
})

test('the attempts of a page are spread over the time until the next one', () => {
  const due = Array.from({ length: RECOVERY_PAGE }, (_, index) => dueInPage(NOON, index).getTime())
  const step = (RECOVERY_PAGE_SECONDS * 1000) / RECOVERY_PAGE
  expect(due).toEqual(due.map((_, index) => NOON.getTime() + index * step))
})
