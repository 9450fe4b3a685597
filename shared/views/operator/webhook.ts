import type { Shows } from '../../domain/complete.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { iso } from '../../domain/time.ts'
import { healthState, type WebhookHealth } from '../../domain/webhooks/health.ts'
import {
  canSign,
  previousAt,
  type StoredWebhook,
  type Webhook,
} from '../../domain/webhooks/webhook.ts'

export const webhookSettingsView = (webhook: StoredWebhook, now: Date) =>
  ({
    events: webhook.events ?? null,
    max_attempts: webhook.attemptsMax ?? null,
    timeout: webhook.timeoutSeconds,
    connection_timeout: webhook.connectionTimeoutSeconds,
    signature_prefix: webhook.signaturePrefix ?? 'none',
    payload: webhook.payload ?? 'full',
    event_names: webhook.eventNames ?? 'transaction',
    previous_until: iso(previousAt(webhook, now)?.until ?? null),
  }) satisfies Shows<
    Webhook,
    | 'url'
    | 'secret'
    | 'previous'
    | 'since'
    | 'subscribedAt'
    | 'attemptsMax'
    | 'timeoutSeconds'
    | 'connectionTimeoutSeconds'
  >

export type WebhookSecretResult<S extends string | null> = ReturnType<typeof webhookSecretView<S>>

/** @param secret the signing secret that the call created; null: it created none */
export const webhookSecretView = <S extends string | null>(
  webhook: StoredWebhook,
  secret: S,
  now: Date,
) => ({ url: webhook.url, secret, ...webhookSettingsView(webhook, now) })

export type HealthResult = ReturnType<typeof healthView>

export const healthView = (health: WebhookHealth) =>
  ({
    health: healthState(health),
    failing_since: iso(health.failingSince ?? null),
    exhausted_since: iso(health.exhaustedSince ?? null),
    disabled_at: iso(health.disabledAt ?? null),
    recovered_at: iso(health.recoveredAt ?? null),
    is_sidelined: health.slowSince !== undefined,
  }) satisfies Shows<WebhookHealth, 'slowSince' | 'goneSince' | 'removedAt'>

export type WebhookResult = ReturnType<typeof operatorWebhookView>

export const operatorWebhookView = (webhook: StoredWebhook, health: WebhookHealth, now: Date) => ({
  url: webhook.url,
  /** false: the stored secret cannot be opened. */
  has_secret: canSign(webhook),
  ...webhookSettingsView(webhook, now),
  ...healthView(health),
})

export type WebhookSummary = ReturnType<typeof webhookSummaryView>

export const webhookSummaryView = (
  provider: ProviderId,
  { url, events }: Pick<Webhook, 'url' | 'events'>,
  health: WebhookHealth,
) => ({ provider, url, events: events ?? null, ...healthView(health) })
