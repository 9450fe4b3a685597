import { type Backup, InvalidStage, type Stage, type StageBackup } from './stages.ts'

/** What a stage can be restored from. */

type Recoverable = { backup?: StageBackup; replicaOf?: object }

/** Returns the backups of a Region. Those of a passive one are in the other Region. */
export const backupOf = ({ backup, replicaOf }: Recoverable): Backup | undefined =>
  backup && 'keepDays' in backup && !replicaOf ? backup : undefined

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
