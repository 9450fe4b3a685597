import type * as v from 'valibot'
import { type Complete, defined } from '../../shared/domain/complete.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import { secretField } from '../../shared/domain/operator/change.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { subscribedAfter } from '../../shared/domain/webhooks/delivery.ts'
import { renewed } from '../../shared/domain/webhooks/health.ts'
import {
  canSign,
  previousAt,
  type StoredWebhook,
  type Webhook,
} from '../../shared/domain/webhooks/webhook.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import {
  CONNECTION_TIMEOUT_SECONDS,
  webhook as noun,
  TIMEOUT_SECONDS,
} from '../../shared/operator/nouns/webhook.ts'
import { SECRET_OVERLAP_SECONDS, updatedOr } from '../../shared/operator/options.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { changeRecorder, changeWrites } from '../../shared/store/operator/changes.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'
import { changeHealth, findHealth } from '../../shared/store/webhooks/health.ts'
import {
  changeWebhook,
  findWebhook,
  findWebhookSettings,
  removeWebhook,
} from '../../shared/store/webhooks/webhooks.ts'
import {
  healthView,
  operatorWebhookView,
  type WebhookSummary,
  webhookSecretView,
  webhookSettingsView,
  webhookSummaryView,
} from '../../shared/views/operator/webhook.ts'
import { network } from '../../shared/webhooks/http/network.ts'
import { rotated, webhookSecret } from '../../shared/webhooks/http/signature.ts'
import { newWebhookUrl, webhookUrl } from '../../shared/webhooks/http/target.ts'
import { pingWebhook } from '../../shared/webhooks/ping.ts'

/** The DNS timeout for a new URL. */
const LOOKUP_SECONDS = 5

type WebhookOptions = Omit<v.InferOutput<typeof noun.verbs.set.options>, 'provider'>

/** Applies settings. A new URL keeps the secret, unless it cannot be opened; a rotation changes it. */
const applySettings = (
  previous: StoredWebhook | undefined,
  settings: WebhookOptions,
  secret: string,
  now: Date,
): Webhook => {
  const events = updatedOr(previous?.events, settings.events)
  return defined<Complete<Webhook>>({
    ...previous,
    url: settings.url,
    secret: previous?.secret ?? secret,
    since: previous ? previous.since : now,
    subscribedAt: previous && subscribedAfter(previous, events, now),
    timeoutSeconds: settings.timeout ?? previous?.timeoutSeconds ?? TIMEOUT_SECONDS.default,
    connectionTimeoutSeconds:
      settings['connection-timeout'] ??
      previous?.connectionTimeoutSeconds ??
      CONNECTION_TIMEOUT_SECONDS.default,
    previous: previous && previousAt(previous, now),
    events,
    attemptsMax: updatedOr(previous?.attemptsMax, settings['max-attempts']),
    signaturePrefix: updatedOr(previous?.signaturePrefix, settings['signature-prefix']),
    payload: updatedOr(previous?.payload, settings.payload),
    eventNames: updatedOr(previous?.eventNames, settings['event-names']),
  })
}

const noWebhook = (details = 'this provider has no webhook') => new Refusal(1404, { details })

const listView = async (provider: ProviderId) => {
  const [webhook, health] = await Promise.all([findWebhookSettings(provider), findHealth(provider)])
  if (!webhook) return []
  return [webhookSummaryView(provider, webhook, health)]
}

const changeRecord =
  (provider: ProviderId, author: Author, { now }: Runtime) =>
  (previous: StoredWebhook | undefined, next?: StoredWebhook) => {
    const fields = (webhook: StoredWebhook) => ({
      url: webhook.url,
      ...webhookSettingsView(webhook, now()),
    })
    const secret = secretField(previous?.secret, next?.secret)
    return changeWrites(
      { ...author, target: provider, provider },
      previous && { ...fields(previous), secret: secret.previous },
      next && { ...fields(next), secret: secret.next },
    )
  }

const checkedUrl = async (
  provider: ProviderId,
  { url }: Pick<WebhookOptions, 'url'>,
): Promise<string | Refusal> =>
  (await findProvider(provider))
    ? newWebhookUrl(url, network, AbortSignal.timeout(LOOKUP_SECONDS * 1000))
    : noSuch('provider')

/** The first URL of a provider needs no approval; one that follows a removed webhook does. */
const changesTarget = async ({ provider, url }: { provider: ProviderId; url: string }) => {
  const [stored, { removedAt }] = await Promise.all([findWebhook(provider), findHealth(provider)])
  if (!stored) return removedAt !== undefined
  return webhookUrl(url, network) !== stored.url || !canSign(stored)
}

const healthRecorder = (provider: ProviderId, author: Author) =>
  changeRecorder({ ...author, target: provider, provider }, healthView)

const newSecret = (runtime: Runtime): string => webhookSecret(runtime.randomBytes(32))

export const manageWebhook = operatorHandler(noun, {
  set: {
    run: async ({ provider, ...settings }, author, runtime, checkApproval) => {
      const url = await checkedUrl(provider, settings)
      if (url instanceof Refusal) return url
      // First, so that a grant that is repeated after a crash makes both changes: the second one ends it.
      const { approval: _, ...renewal } = { ...author, id: runtime.newId() }
      await changeHealth(provider, renewed, healthRecorder(provider, renewal))
      const secret = newSecret(runtime)
      const webhook = await changeWebhook(
        provider,
        async (previous) =>
          (await checkApproval()) ??
          applySettings(previous, { ...settings, url }, secret, runtime.now()),
        changeRecord(provider, author, runtime),
        runtime,
      )
      if (webhook instanceof Refusal) return webhook
      return webhookSecretView(webhook, webhook.secret === secret ? secret : null, runtime.now())
    },
    check: async ({ provider, url }) =>
      unlessRefused(await checkedUrl(provider, { url }), () => callObject({ provider })),
    needsApproval: changesTarget,
  },
  enable: async ({ provider }, author) => {
    if (!(await findWebhookSettings(provider))) return noWebhook()
    return healthView(await changeHealth(provider, renewed, healthRecorder(provider, author)))
  },
  ping: async ({ provider }, _author, runtime) => {
    if (!(await findWebhookSettings(provider))) return noWebhook()
    return (
      (await pingWebhook(provider, runtime)) ??
      noWebhook('the secret of this webhook cannot be opened')
    )
  },
  'rotate-secret': {
    run: async (options, author, runtime) => {
      const { provider, 'grace-seconds': graceSeconds = SECRET_OVERLAP_SECONDS.default } = options
      const rotation = { secret: newSecret(runtime), at: runtime.now(), graceSeconds }
      const webhook = await changeWebhook(
        provider,
        (previous) => previous && rotated(previous, rotation),
        changeRecord(provider, author, runtime),
        runtime,
      )
      return webhook ? webhookSecretView(webhook, webhook.secret, runtime.now()) : noWebhook()
    },
    check: async ({ provider }) =>
      (await findWebhookSettings(provider)) ? callObject({ provider }) : noWebhook(),
  },
  show: async ({ provider }, { at }) => {
    const [webhook, health] = await Promise.all([findWebhook(provider), findHealth(provider)])
    return webhook ? operatorWebhookView(webhook, health, at) : noWebhook()
  },
  list: async () => {
    const views: WebhookSummary[] = []
    // Sequential reads, to limit the load of a list of all providers.
    for (const provider of await listProviders()) views.push(...(await listView(provider)))
    return views
  },
  remove: async ({ provider }, author, runtime) => {
    const record = changeRecord(provider, author, runtime)
    // First, so that no crash forgets the removal.
    if (await findWebhookSettings(provider)) {
      await changeHealth(provider, (health) => ({ ...health, removedAt: runtime.now() }))
    }
    const isRemoved = await removeWebhook(provider, record, runtime)
    return isRemoved ? { removed: true } : noWebhook()
  },
})

export const handler = manageWebhook(real)
