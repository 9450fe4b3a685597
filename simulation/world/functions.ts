import type { Context } from 'aws-lambda'
import { debitCallback } from '../../functions/bank/debit-callback.ts'
import { updateDebitTransaction } from '../../functions/bank/update-debit-transaction.ts'
import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { deliverSidelinedWebhook } from '../../functions/jobs/deliver-sidelined-webhook.ts'
import { deliverWebhook } from '../../functions/jobs/deliver-webhook.ts'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { openSettlement } from '../../functions/jobs/open-settlement.ts'
import { processBatch } from '../../functions/jobs/process-batch.ts'
import { recoverDeliveries } from '../../functions/jobs/recover-deliveries.ts'
import { relay } from '../../functions/jobs/relay.ts'
import { reportSandboxOutcome } from '../../functions/jobs/report-sandbox-outcome.ts'
import { scheduleTimeout } from '../../functions/jobs/schedule-timeout.ts'
import { submitToBank } from '../../functions/jobs/submit-to-bank.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import { manageDebit } from '../../functions/operator/manage-debit.ts'
import { charge } from '../../functions/provider/charge.ts'
import { getDebitRequest } from '../../functions/provider/get-debit-request.ts'
import { redeliverEvent } from '../../functions/provider/redeliver-event.ts'
import { jobs } from '../../infra/jobs.ts'
import type { Runtime } from '../../shared/runtime.ts'
import { here } from './here.ts'
import type { Came } from './invocations.ts'

// biome-ignore lint/suspicious/noExplicitAny: each function has an event and a reply of its own
type Handler = (event: any, context: Context) => Promise<unknown>

/** The functions themselves, as they are deployed, with the clock and the luck of a world. */
const functionsOf = (runtime: Runtime) =>
  ({
    charge: charge(runtime),
    'get-debit-request': getDebitRequest(runtime),
    'redeliver-event': redeliverEvent(runtime),
    'update-debit-transaction': updateDebitTransaction(runtime),
    'debit-callback': debitCallback(runtime),
    'manage-debit': manageDebit(runtime),
    relay: relay(runtime),
    'submit-to-bank': submitToBank(runtime),
    'report-sandbox-outcome': reportSandboxOutcome(runtime),
    'schedule-timeout': scheduleTimeout(runtime),
    'expire-debit': expireDebit(runtime),
    'deliver-webhook': deliverWebhook(runtime),
    'deliver-sidelined-webhook': deliverSidelinedWebhook(runtime),
    'recover-deliveries': recoverDeliveries(runtime),
    'open-settlement': openSettlement(runtime),
    'build-batch': buildBatches(runtime),
    'process-batch': processBatch(runtime),
    sweep: sweep(runtime),
  }) satisfies Record<string, Handler>

/** A warm function outlives a world, so it asks for the clock and the luck of the one it is in. */
const runtime: Runtime = {
  now: () => here().runtime.now(),
  newId: () => here().runtime.newId(),
  random: () => here().runtime.random(),
  randomBytes: (count) => here().runtime.randomBytes(count),
  pause: (milliseconds, signal) => here().runtime.pause(milliseconds, signal),
}

export const functions: Record<FunctionName, Handler> = functionsOf(runtime)

const ENDPOINT_SECONDS = 28

/** How long a function may take. */
export const timeoutOf = (name: FunctionName): number =>
  name in jobs ? jobs[name as keyof typeof jobs].timeoutSeconds : ENDPOINT_SECONDS

AbortSignal.timeout = (milliseconds) => here().timeout(milliseconds)

export type FunctionName = keyof ReturnType<typeof functionsOf>

/** Has a function do a piece of work, and says what came of it. */
export type Run = (
  name: FunctionName,
  event: unknown,
  /** Told of the number of the invocation. */
  began?: (invocation: number) => void,
) => Promise<Came<unknown>>
