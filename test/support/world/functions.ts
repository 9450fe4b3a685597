import type { Context } from 'aws-lambda'
import { reconcileDay } from '../../../functions/jobs/reconcile-day.ts'
import { handler as manageDelivery } from '../../../functions/operator/manage-delivery.ts'
import { handler as manageRestore } from '../../../functions/operator/manage-restore.ts'
import { handler as manageSettlement } from '../../../functions/operator/manage-settlement.ts'
import { listEvents } from '../../../functions/provider/list-events.ts'
import type { JobName } from '../../../infra/definitions/jobs.ts'
import type { Runtime } from '../../../shared/runtime.ts'
import { functionsOf as simulated } from '../../../simulation/engine/functions.ts'

// biome-ignore lint/suspicious/noExplicitAny: each function has an event and a reply of its own
export type Run = (event: any, context: Context) => Promise<any>

/** Those of the simulator and some more, with the clock and the luck of a test. */
export const functionsOf = (runtime: Runtime) =>
  ({
    ...simulated(runtime),
    'reconcile-day': reconcileDay(runtime),
    'manage-delivery': manageDelivery,
    'manage-restore': manageRestore,
    'manage-settlement': manageSettlement,
    'list-events': listEvents(runtime),
  }) satisfies Record<JobName, Run> & Record<string, Run>

export type FunctionName = keyof ReturnType<typeof functionsOf>
