import * as v from 'valibot'
import { PartnerId, type Webhook } from '../../shared/domain/partner.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import {
  eventList,
  kept,
  options,
  orNone,
  present,
  wholeNumber,
} from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { findPartner } from '../../shared/store/partners.ts'
import { findWebhook, putWebhook } from '../../shared/store/webhooks.ts'
import { network } from '../../shared/webhooks/network.ts'
import { webhookSecret } from '../../shared/webhooks/signature.ts'
import { strict, targetOf } from '../../shared/webhooks/target.ts'

/** Read and connect timeouts of one attempt (specification, Retry of deliveries, 7). */
const TIMEOUT_SECONDS = { otherwise: 30, min: 10, max: 60 }
const CONNECTION_TIMEOUT_SECONDS = { otherwise: 10, min: 5, max: 30 }

/** How long the name system may take to say where a new URL leads. */
const LOOK_UP_SECONDS = 5

const view = (webhook: Webhook) => ({
  url: webhook.url,
  secret: webhook.secret,
  events: webhook.events ?? null,
  max_attempts: webhook.attemptsMax ?? null,
  timeout: webhook.timeoutSeconds,
  connection_timeout: webhook.connectionTimeoutSeconds,
})

export const handler = operatorHandler({
  set: verb(
    options({
      provider: PartnerId,
      url: v.string(),
      events: v.optional(orNone(eventList)),
      'max-attempts': v.optional(orNone(wholeNumber({ min: 1, max: 10 }))),
      timeout: v.optional(wholeNumber(TIMEOUT_SECONDS)),
      'connection-timeout': v.optional(wholeNumber(CONNECTION_TIMEOUT_SECONDS)),
    }),
    async (wanted) => {
      if (!(await findPartner(wanted.provider))) {
        return new Refusal(1404, { details: 'no such provider' })
      }
      const target = await targetOf(wanted.url, {
        network,
        rules: strict,
        signal: AbortSignal.timeout(LOOK_UP_SECONDS * 1000),
      })
      if ('refusal' in target) return target.refusal
      const before = await findWebhook(wanted.provider)
      const webhook: Webhook = {
        url: target.url.href,
        // A new URL keeps its secret; only a rotation changes it.
        secret: before?.secret ?? webhookSecret(real.randomBytes(32)),
        timeoutSeconds: wanted.timeout ?? before?.timeoutSeconds ?? TIMEOUT_SECONDS.otherwise,
        connectionTimeoutSeconds:
          wanted['connection-timeout'] ??
          before?.connectionTimeoutSeconds ??
          CONNECTION_TIMEOUT_SECONDS.otherwise,
        ...present({
          events: kept(before?.events, wanted.events),
          attemptsMax: kept(before?.attemptsMax, wanted['max-attempts']),
        }),
      }
      await putWebhook(wanted.provider, webhook)
      return view(webhook)
    },
  ),
})
