import type { Webhook } from '../../domain/webhooks/webhook.ts'

/** A replacement of a webhook's secret, with an overlap (docs/api.md#signatures). */
export type WebhookRotation = {
  /** The new secret, the same in each retry of the rotation. */
  secret: string
  at: Date
  /** The overlap in which both secrets sign; 0 ends the old one at once. */
  graceSeconds: number
}

/**
 * Replaces the secret and drops an earlier previous one, so that two rotations end a leaked secret.
 * Returns the unchanged object for a repeated rotation.
 */
export const rotated = (
  webhook: Webhook,
  { secret, at, graceSeconds }: WebhookRotation,
): Webhook => {
  if (webhook.secret === secret || webhook.previous?.secret === secret) return webhook
  const { previous, ...rest } = webhook
  if (graceSeconds === 0) return { ...rest, secret }
  const until = new Date(at.getTime() + graceSeconds * 1000)
  return { ...rest, secret, previous: { secret: webhook.secret, until } }
}

/** Returns the previous secret if it still signs. */
export const previousAt = ({ previous }: Pick<Webhook, 'previous'>, at: Date) =>
  previous && at < previous.until ? previous : undefined
