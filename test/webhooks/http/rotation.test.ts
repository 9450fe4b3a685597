import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { previousAt, rotated } from '../../../shared/webhooks/http/rotation.ts'
import { webhook as example, inSeconds, NOON } from '../../support/examples.ts'

const webhook: Webhook = { ...example, secret: 'whsec_first', payload: 'reduced' }

const rotation = (secret: string, graceSeconds = 60) => ({ secret, at: NOON, graceSeconds })

test('the old secret also signs during the overlap, and other settings stay', () => {
  expect(rotated(webhook, rotation('whsec_second'))).toEqual({
    ...webhook,
    secret: 'whsec_second',
    previous: { secret: 'whsec_first', until: inSeconds(60) },
  })
})

test('an overlap of 0 leaves no previous secret', () => {
  const once = rotated(webhook, rotation('whsec_second'))
  for (const before of [webhook, once]) {
    const third = { ...webhook, secret: 'whsec_third' }
    expect(rotated(before, rotation('whsec_third', 0))).toEqual(third)
  }
})

test('a second rotation within the overlap drops the oldest secret', () => {
  const twice = rotated(rotated(webhook, rotation('whsec_second')), rotation('whsec_third', 90))
  expect(twice.secret).toBe('whsec_third')
  expect(twice.previous).toEqual({ secret: 'whsec_second', until: inSeconds(90) })
})

test('a repeated rotation changes nothing', () => {
  const once = rotated(webhook, rotation('whsec_second'))
  const twice = rotated(once, rotation('whsec_third'))
  expect(rotated(once, rotation('whsec_second'))).toBe(once)
  expect(rotated(twice, rotation('whsec_second'))).toBe(twice)
})

test('the previous secret signs until its end and never after it', () => {
  const grace = fc.integer({ min: 1, max: 604_800 })
  const offset = fc.integer({ min: -604_800_000, max: 604_800_000 })
  fc.assert(
    fc.property(grace, offset, (graceSeconds, milliseconds) => {
      const once = rotated(webhook, rotation('whsec_second', graceSeconds))
      const { previous = { secret: '', until: NOON } } = once
      expect(previous.until).toEqual(inSeconds(graceSeconds))
      const at = new Date(previous.until.getTime() + milliseconds)
      const secret = milliseconds < 0 ? 'whsec_first' : undefined
      expect(previousAt({ previous }, at)?.secret).toBe(secret)
    }),
  )
})
