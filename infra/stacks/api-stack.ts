import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import manifest from '../../package.json' with { type: 'json' }
import { defineAlarm } from '../constructs/alarm.ts'
import { defineApi, defineCustomDomain, defineRoutes, ownHosts } from '../constructs/api.ts'
import { defineFunction, defineLiveAlias } from '../constructs/function.ts'
import { defineRollout } from '../constructs/rollout.ts'
import { defineWaf } from '../constructs/waf.ts'
import { endpointRows } from '../definitions/functions.ts'
import { metricsOf } from '../definitions/metrics.ts'
import { rollbackAlarms } from '../definitions/rollback-alarms.ts'
import type { Stage } from '../definitions/stages.ts'
import type { DataStack } from './data-stack.ts'
import type { NetworkStack } from './network-stack.ts'

type ApiProps = StackProps & { stage: Stage; data: DataStack; network: NetworkStack | undefined }

/** Defines the API: the gateway with its firewall, and the functions behind it. */
export class ApiStack extends Stack {
  /** Host names of the API. */
  readonly hosts: readonly string[]

  constructor(scope: Construct, id: string, { stage, data, network, ...props }: ApiProps) {
    super(scope, id, props)
    const api = defineApi(this, stage)
    this.hosts = ownHosts(this, stage.domain, api)
    // Keeps the export for the other stacks when the domain becomes the only host.
    this.exportValue(api.restApiId)
    const resources = { stage, data, hosts: this.hosts, queues: new Map(), network }
    const aliases = new Map(
      endpointRows.map((row) => [row.name, defineLiveAlias(defineFunction(this, row, resources))]),
    )
    defineRoutes(api, aliases)
    defineWaf(this, stage, api)
    if (stage.domain) defineCustomDomain(this, stage.domain, api)
    const metrics = metricsOf(stage, data.table.tableName)
    const alarms = rollbackAlarms.map((row) => defineAlarm(this, stage, row, metrics))
    if (!stage.switchesAtOnce) defineRollout(this, aliases, alarms)
    const path = stage.domain?.isOnly ? '' : `/${stage.name}`
    new CfnOutput(this, 'ApiAddress', { value: `https://${this.hosts[0]}${path}` })
    new CfnOutput(this, 'Version', { value: manifest.version })
  }
}
