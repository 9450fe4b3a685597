import type { Webhook } from '../../domain/webhooks/webhook.ts'

/** How a webhook's secret is replaced while its receiver goes on verifying. */

export type Rotation = {
  /** The new one, drawn once for a rotation however often it is tried. */
  secret: string
  at: Date
  /** How long the old one signs beside it; with 0 it is gone at once. */
  graceSeconds: number
}

/**
 * The webhook with a new secret. One that was previous already is dropped, so two rotations end a
 * secret that leaked. The very same object when this rotation is done: its answer was lost.
 */
export const rotated = (webhook: Webhook, { secret, at, graceSeconds }: Rotation): Webhook => {
  if (webhook.secret === secret || webhook.previous?.secret === secret) return webhook
  const { previous, ...rest } = webhook
  if (graceSeconds === 0) return { ...rest, secret }
  const until = new Date(at.getTime() + graceSeconds * 1000)
  return { ...rest, secret, previous: { secret: webhook.secret, until } }
}

/** The secret that signs beside the new one at this time, if there is one. */
export const previousAt = (
  { previous }: Pick<Webhook, 'previous'>,
  at: Date,
): Webhook['previous'] => (previous && at < previous.until ? previous : undefined)
