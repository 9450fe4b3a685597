import { type Backup, InvalidStage, type Stage, type StageBackup } from './stages.ts'

/** What a stage can be restored from. */

type Recoverable = { backup?: StageBackup; replicaOf?: object }

const daily = (backup: StageBackup | undefined): Backup | undefined =>
  backup && 'keepDays' in backup ? backup : undefined

/** Returns the backups of a Region. Those of a passive one are in the other Region. */
export const backupOf = ({ backup, replicaOf }: Recoverable): Backup | undefined =>
  replicaOf ? undefined : daily(backup)

/** Days of point-in-time recovery. */
const RECOVERY_DAYS = 35

/** Returns the days for which an earlier state of the table can be restored, in either Region. */
export const restorableDaysOf = ({ backup }: Recoverable): number =>
  Math.max(RECOVERY_DAYS, daily(backup)?.keepDays ?? 0)

/**
 * Returns the Region of the copies if it is not the stage's own.
 * @throws InvalidStage if a stage with copies does not name its own
 */
export const otherRegionOf = (stage: Stage) => {
  const copyRegion = backupOf(stage)?.copyTo?.split(':')[3]
  if (copyRegion && !stage.region)
    throw new InvalidStage(`Stage ${stage.name}: backup.copyTo requires region`)
  return copyRegion === stage.region ? undefined : copyRegion
}

/** Returns the Regions with a replica of the sealing key: that of the copies, and the passive one. */
export const replicaRegionsOf = (stage: Stage): string[] => {
  const regions = [otherRegionOf(stage), stage.passive?.region]
  return [...new Set(regions.filter((region) => region !== undefined))]
}
