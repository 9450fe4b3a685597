import type * as v from 'valibot'
import { secretField } from '../../shared/domain/operator/change.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { iso } from '../../shared/domain/time.ts'
import { healthState, renewed, type WebhookHealth } from '../../shared/domain/webhooks/health.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import {
  CONNECTION_TIMEOUT_SECONDS,
  webhook as noun,
  TIMEOUT_SECONDS,
} from '../../shared/operator/nouns/webhook.ts'
import { defined, SECRET_OVERLAP_SECONDS, updatedOr } from '../../shared/operator/options.ts'
import { real } from '../../shared/runtime.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'
import { changeHealth, findHealth } from '../../shared/store/webhooks/health.ts'
import {
  changeWebhook,
  findWebhook,
  findWebhookSettings,
  removeWebhook,
} from '../../shared/store/webhooks/webhooks.ts'
import { network } from '../../shared/webhooks/http/network.ts'
import { previousAt, rotated } from '../../shared/webhooks/http/rotation.ts'
import { webhookSecret } from '../../shared/webhooks/http/signature.ts'
import { strict, targetOf } from '../../shared/webhooks/http/target.ts'

/** How long the name system may take to say where a new URL leads. */
const LOOK_UP_SECONDS = 5

type Settings = Omit<v.InferOutput<typeof noun.verbs.set.options>, 'provider'>

/** A new URL keeps its secret; only a rotation changes it. */
const changed = (before: Webhook | undefined, wanted: Settings, secret: string): Webhook => ({
  url: wanted.url,
  secret: before?.secret ?? secret,
  since: real.now(),
  timeoutSeconds: wanted.timeout ?? before?.timeoutSeconds ?? TIMEOUT_SECONDS.otherwise,
  connectionTimeoutSeconds:
    wanted['connection-timeout'] ??
    before?.connectionTimeoutSeconds ??
    CONNECTION_TIMEOUT_SECONDS.otherwise,
  ...defined({
    previous: before && previousAt(before, real.now()),
    events: updatedOr(before?.events, wanted.events),
    attemptsMax: updatedOr(before?.attemptsMax, wanted['max-attempts']),
    signaturePrefix: updatedOr(before?.signaturePrefix, wanted['signature-prefix']),
    payload: updatedOr(before?.payload, wanted.payload),
    eventNames: updatedOr(before?.eventNames, wanted['event-names']),
  }),
})

const settingsView = (webhook: Webhook) => ({
  events: webhook.events ?? null,
  max_attempts: webhook.attemptsMax ?? null,
  timeout: webhook.timeoutSeconds,
  connection_timeout: webhook.connectionTimeoutSeconds,
  signature_prefix: webhook.signaturePrefix ?? 'none',
  payload: webhook.payload ?? 'full',
  event_names: webhook.eventNames ?? 'transaction',
  previous_until: previousAt(webhook, real.now())?.until.toISOString() ?? null,
})

const view = (webhook: Webhook) => ({
  url: webhook.url,
  secret: webhook.secret,
  ...settingsView(webhook),
})

const viewWithoutSecret = (webhook: Webhook) => ({
  url: webhook.url,
  has_secret: true,
  ...settingsView(webhook),
})

const healthView = (health: WebhookHealth) => ({
  health: healthState(health),
  failing_since: iso(health.failingSince ?? null),
  exhausted_since: iso(health.exhaustedSince ?? null),
  disabled_at: iso(health.disabledAt ?? null),
  recovered_at: iso(health.recoveredAt ?? null),
  is_sidelined: health.slowSince !== undefined,
})

const newSecret = (): string => webhookSecret(real.randomBytes(32))

const unknown = () => new Refusal(1404, { details: 'this provider has no webhook' })

const listed = async (provider: ProviderId) => {
  const [webhook, health] = await Promise.all([findWebhookSettings(provider), findHealth(provider)])
  if (!webhook) return []
  return [{ provider, url: webhook.url, events: webhook.events ?? null, ...healthView(health) }]
}

const recording = (provider: ProviderId, author: Author) => ({
  ...author,
  target: provider,
  provider,
})

const fields = (webhook: Webhook) => ({ url: webhook.url, ...settingsView(webhook) })

const recordsChange =
  (provider: ProviderId, author: Author) => (before: Webhook | undefined, after?: Webhook) => {
    const secret = secretField(before?.secret, after?.secret)
    return changeWrites(
      recording(provider, author),
      before && { ...fields(before), secret: secret.before },
      after && { ...fields(after), secret: secret.after },
    )
  }

export const handler = operatorHandler(noun, {
  set: async ({ provider, ...wanted }, author) => {
    if (!(await findProvider(provider))) return new Refusal(1404, { details: 'no such provider' })
    const target = await targetOf(wanted.url, {
      network,
      rules: strict,
      signal: AbortSignal.timeout(LOOK_UP_SECONDS * 1000),
    })
    if ('refusal' in target) return target.refusal
    const url = target.url.href
    const secret = newSecret()
    const webhook = await changeWebhook(
      provider,
      (before) => changed(before, { ...wanted, url }, secret),
      recordsChange(provider, author),
      real,
    )
    await changeHealth(provider, renewed)
    return view(webhook)
  },
  enable: async ({ provider }, author) => {
    if (!(await findWebhookSettings(provider))) return unknown()
    const enabled = await changeHealth(provider, renewed, (before, after) =>
      changeWrites(recording(provider, author), healthView(before), healthView(after)),
    )
    return healthView(enabled)
  },
  'rotate-secret': async ({ provider, 'grace-seconds': given }, author) => {
    const graceSeconds = given ?? SECRET_OVERLAP_SECONDS.otherwise
    const rotation = { secret: newSecret(), at: real.now(), graceSeconds }
    const webhook = await changeWebhook(
      provider,
      (before) => before && rotated(before, rotation),
      recordsChange(provider, author),
      real,
    )
    return webhook ? view(webhook) : unknown()
  },
  show: async ({ provider }) => {
    const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
    return webhook ? { ...viewWithoutSecret(webhook), ...healthView(health) } : unknown()
  },
  list: async () => {
    const found: Awaited<ReturnType<typeof listed>> = []
    // One after the other: however many there are, few reads are under way at once.
    for (const provider of await listProviders()) found.push(...(await listed(provider)))
    return found
  },
  remove: async ({ provider }, author) => {
    const isRemoved = await removeWebhook(provider, recordsChange(provider, author), real)
    return isRemoved ? { removed: true } : unknown()
  },
})
