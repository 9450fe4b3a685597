import { type Stage, stageNamed } from './stages.ts'

type DataStage = Extract<Stage, { keepsData: true }>

type OptionalName = {
  [Name in keyof DataStage]-?: object extends Pick<DataStage, Name> ? Name : never
}[keyof DataStage]

/** Optional settings that `optional` omits: of production, temporary, of a passive Region or of a local stage. */
type OmittedName =
  | ('reserved' | 'openPromptsMax' | 'eraseAfterDays' | 'retainYears' | 'workers' | 'workersMax')
  | ('paused' | 'waits' | 'switchesAtOnce' | 'restoredTable' | 'passive' | 'replicaOf')
  | ('addressLimit' | 'privatePeers' | 'claimedOperators')

const optional = {
  account: '111111111111',
  region: 'af-south-1',
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:af-south-1:111111111111:certificate/6f0d',
    zone: { id: 'Z111111QQQQQQQ', name: 'example.com' },
  },
  concurrencyQuota: 2_000,
  lake: { keepDays: 70 },
  network: { cidr: '10.20.0.0/24', zones: 3 },
  bankClientCertificate: {
    secretArn: 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:bank-client-AbCdEf',
    keyArn: 'arn:aws:kms:eu-west-1:111111111111:key/6f0d',
  },
  alarmsTo: { pages: 'https://pager.example.com/debits', tickets: 'ops@example.com' },
  errorGuide: 'https://docs.example.com/errors',
} satisfies Pick<Stage, OptionalName> & Record<Exclude<OptionalName, OmittedName>, unknown>

/** An example stage with the optional settings of a deployed stage, for checks of templates. */
export const completeStage: Stage = {
  ...stageNamed('production'),
  name: 'complete',
  ...optional,
  backup: {
    keepDays: 90,
    lockDays: 30,
    copyTo: 'arn:aws:backup:eu-west-1:222222222222:backup-vault:copies',
  },
}

const PASSIVE_REGION = 'eu-west-1'

/** The same with a passive Region and its replicas. */
export const replicatedStage: Stage = {
  ...completeStage,
  passive: {
    region: PASSIVE_REGION,
    settings: {
      domain: {
        name: 'api.example.com',
        certificateArn: `arn:aws:acm:${PASSIVE_REGION}:111111111111:certificate/7a1e`,
      },
      network: { cidr: '10.21.0.0/24', zones: 3 },
      bankClientCertificate: {
        secretArn: `arn:aws:secretsmanager:${PASSIVE_REGION}:111111111111:secret:bank-client-GhIjKl`,
      },
    },
    replica: {
      table: { name: 'debits-table', streamLabel: '2026-11-27T10:00:00.000' },
      sealingKeyArn: `arn:aws:secretsmanager:${PASSIVE_REGION}:111111111111:secret:SealingKey-AbCdEf`,
    },
  },
}
