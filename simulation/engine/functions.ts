import type { Context } from 'aws-lambda'
import { debitCallback } from '../../functions/bank/debit-callback.ts'
import { listDebitTransactions } from '../../functions/bank/list-debit-transactions.ts'
import { updateDebitTransaction } from '../../functions/bank/update-debit-transaction.ts'
import { buildBatches } from '../../functions/jobs/build-batch.ts'
import { deliverSidelinedWebhook } from '../../functions/jobs/deliver-sidelined-webhook.ts'
import { deliverWebhook } from '../../functions/jobs/deliver-webhook.ts'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { openSettlement } from '../../functions/jobs/open-settlement.ts'
import { processBatch } from '../../functions/jobs/process-batch.ts'
import { recoverDeliveries } from '../../functions/jobs/recover-deliveries.ts'
import { refundCustomer } from '../../functions/jobs/refund-customer.ts'
import { relay } from '../../functions/jobs/relay.ts'
import { reportSandboxOutcome } from '../../functions/jobs/report-sandbox-outcome.ts'
import { scheduleTimeout } from '../../functions/jobs/schedule-timeout.ts'
import { submitToBank } from '../../functions/jobs/submit-to-bank.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import { manageDebit } from '../../functions/operator/manage-debit.ts'
import { manageException } from '../../functions/operator/manage-exception.ts'
import { manageLimit } from '../../functions/operator/manage-limit.ts'
import { manageProvider } from '../../functions/operator/manage-provider.ts'
import { manageReconciliation } from '../../functions/operator/manage-reconciliation.ts'
import { manageRestore } from '../../functions/operator/manage-restore.ts'
import { manageSettlement } from '../../functions/operator/manage-settlement.ts'
import { charge } from '../../functions/provider/charge.ts'
import { getDebitRequest } from '../../functions/provider/get-debit-request.ts'
import { getSettlement } from '../../functions/provider/get-settlement.ts'
import { listDebitRequests } from '../../functions/provider/list-debit-requests.ts'
import { listEvents } from '../../functions/provider/list-events.ts'
import { listSettlements } from '../../functions/provider/list-settlements.ts'
import { redeliverEvent } from '../../functions/provider/redeliver-event.ts'
import type { Runtime } from '../../shared/runtime.ts'

// biome-ignore lint/suspicious/noExplicitAny: each function has an event and a reply of its own
export type Handler = (event: any, context: Context) => Promise<unknown>

/** The deployed functions, with a simulated runtime. */
export const functionsOf = (runtime: Runtime) =>
  ({
    charge: charge(runtime),
    'get-debit-request': getDebitRequest(runtime),
    'get-settlement': getSettlement(runtime),
    'list-debit-requests': listDebitRequests(runtime),
    'list-settlements': listSettlements(runtime),
    'list-events': listEvents(runtime),
    'list-debit-transactions': listDebitTransactions(runtime),
    'redeliver-event': redeliverEvent(runtime),
    'update-debit-transaction': updateDebitTransaction(runtime),
    'debit-callback': debitCallback(runtime),
    'manage-approval': manageApproval(runtime),
    'manage-debit': manageDebit(runtime),
    'manage-exception': manageException(runtime),
    'manage-limit': manageLimit(runtime),
    'manage-provider': manageProvider(runtime),
    'manage-reconciliation': manageReconciliation(runtime),
    'manage-restore': manageRestore(runtime),
    'manage-settlement': manageSettlement(runtime),
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
    'refund-customer': refundCustomer(runtime),
    sweep: sweep(runtime),
  }) satisfies Record<string, Handler>

export type FunctionName = keyof ReturnType<typeof functionsOf>
