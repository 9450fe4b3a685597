import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { OperatorResult } from '../../shared/operator/results.ts'
import { close, listen } from '../local-server.ts'
import { conflict, type Play, type PlayedDebit, ScenarioRefusal, thenRestore } from './play.ts'

/** Receivers that fail: a server on this machine replaces the receiver of the provider for a while. */

/** The end of the event's name: a webhook can have another prefix. */
const EVENT = '.completed'
const UNAVAILABLE = 503

/** Two attempts need fewer. A bound, because a reset waits for the end of a scenario. */
const MOVES_MAX = 30

/** Longer than the two seconds of a prompt receiver. */
const SLOW_MS = 2_500

/**
 * Answers the events of a debit by `answer` while the action runs, then restores the webhook. Other
 * events are answered 503 after the same time, so that the service delivers them later.
 */
const whileReceiving = async <T>(
  { operate }: Play,
  { provider, reference }: PlayedDebit,
  answer: () => Promise<number> | number,
  action: () => Promise<T>,
): Promise<T> => {
  const server = createServer(async (request, response) => {
    const isOwn = (await text(request)).includes(reference)
    const status = await answer()
    response.writeHead(isOwn ? status : UNAVAILABLE).end()
  })
  const port = await listen(server)
  const url = `http://127.0.0.1:${port}/webhooks`
  try {
    const previous = await operate('webhook', 'show', { provider }).catch((error) => {
      // The provider has no webhook.
      if (!(error instanceof ScenarioRefusal)) throw error
    })
    const play = async () => {
      await operate('webhook', 'set', { provider, url, events: 'none', 'max-attempts': '2' })
      return action()
    }
    return await thenRestore(play, () =>
      previous
        ? operate('webhook', 'set', {
            provider,
            url: previous.url,
            events: previous.events?.join(',') ?? 'none',
            'max-attempts': String(previous.max_attempts ?? 'none'),
          })
        : operate('webhook', 'remove', { provider }),
    )
  } finally {
    await close(server)
  }
}

type PlayedDelivery = OperatorResult<'delivery', 'list', { reference: string }>[number]

const deliveryOf = async ({ operate }: Play, { reference }: PlayedDebit) => {
  const deliveries = await operate('delivery', 'list', { reference })
  return (
    deliveries.find(({ event }) => event.endsWith(EVENT)) ?? ({ reference, status: null } as const)
  )
}

const viewOf = ({ id, event, status, attempts }: PlayedDelivery) => ({
  id,
  event,
  status,
  attempts: attempts.map(({ attempt, at, duration_ms, response_code, cause }) => ({
    attempt,
    at,
    duration_ms,
    response_code,
    cause,
  })),
})

export const abandonAndRecover = async (play: Play) => {
  const { operate, until, control } = play
  const debit = await play.open()
  const { reference, provider } = debit
  const since = control.clock.now().toISOString()
  let status = UNAVAILABLE
  /** Moves the clock from one attempt to the next. */
  const untilStatus = async (expected: string) => {
    for (let moves = 0; moves < MOVES_MAX; moves += 1) {
      const delivery = await until(
        () => deliveryOf(play, debit),
        (shown) => shown.status !== null && shown,
      )
      if (delivery.status === expected) return delivery
      const next = delivery.next_attempt_at ?? control.clock.now().getTime() + 1_000
      await play.moveTo(new Date(next))
    }
    return conflict(`the delivery of ${reference} does not become ${expected}`)
  }
  return whileReceiving(
    play,
    debit,
    () => status,
    async () => {
      await play.complete(debit)
      const { failed_at: abandoned_at } = await untilStatus('abandoned')
      status = 204
      const { recovery } = await operate('delivery', 'recover', { provider, since })
      const delivery = viewOf(await untilStatus('delivered'))
      return { reference, status: 'completed' as const, abandoned_at, recovery, delivery }
    },
  )
}

export const receiveSlowly = async (play: Play) => {
  const debit = await play.open()
  // One quick response would end the slowness of the webhook.
  const answer = async () => {
    await pause(SLOW_MS)
    return 204
  }
  return whileReceiving(play, debit, answer, async () => {
    const { reference, status } = await play.complete(debit)
    const delivery = await play.until(
      () => deliveryOf(play, debit),
      (shown) => shown.status === 'delivered' && shown,
    )
    const { is_sidelined } = await play.operate('webhook', 'show', { provider: debit.provider })
    return { reference, status, is_sidelined, delivery: viewOf(delivery) }
  })
}
