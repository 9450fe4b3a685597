import { approved, completed, failed, type Shape } from './shape.ts'

const ALL = Number.POSITIVE_INFINITY
const firstOfEach = {
  submissions: 1,
  timeouts: 1,
  expiries: 1,
  'webhooks-high': 1,
  'webhooks-low': 1,
}
const abandoned = {
  script: { provider: 3, reports: [approved(), completed(400)] },
  answers: Array(6).fill(500),
}

/** Losses that the sweep repairs. */
export const lossy: readonly Shape[] = [
  {
    name: 'twelve webhook messages are lost',
    script: { reports: [completed(20)] },
    losses: { webhooks: 12 },
  },
  {
    name: 'no stream record, completed',
    script: { reports: [completed()] },
    losses: { record: ALL },
  },
  { name: 'no stream record, failed', script: { reports: [failed()] }, losses: { record: ALL } },
  { name: 'no stream record, timed out', script: { reports: [] }, losses: { record: ALL } },
  { name: 'no timer', script: { reports: [] }, losses: { timer: ALL } },
  { name: 'no first message of a queue', script: { reports: [completed()] }, losses: firstOfEach },
  { name: 'two messages of a recovery are lost', ...abandoned, losses: { recoveries: 2 } },
]
