import path from 'node:path';
import { DATA_FOLDER, IMAGE_UID } from './image.ts';

/** What a container runtime does to a root file system: read-only, but for a data folder and an empty /tmp. */
const ENTER = `
set -e
root=$1 data=$2 user=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root${DATA_FOLDER}"
exec /usr/sbin/chroot --userspec="$user:$user" "$root" "$@"
`;

export interface ContainerSpec {
  /** The folder with the root file system. */
  readonly root: string;
  /** The folder of this machine that is mounted as the data folder. */
  readonly data: string;
  readonly command: readonly string[];
}

/**
 * The command that runs a program in a root file system, as an unprivileged user and without writing to it. It needs root, and a kernel that
 * lets root mount, which a container of Docker does not by default. The network is this machine's.
 */
export function containerCommand({ root, data, command }: ContainerSpec): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const enter = ['sh', '-c', ENTER, 'sh', path.resolve(root), path.resolve(data), `${IMAGE_UID}`];
  return {
    command: 'unshare',
    args: ['--mount', '--propagation', 'private', '--', ...enter, ...command],
  };
}
