/**
 * Which modules stand together in one file. A browser gets a kilobyte of header fields with each file, and compresses larger
 * files better, so what every page loads is two files: the start, and the frame of the pages. What several pages share
 * beyond that is a third.
 */
export const chunks = {
  groups: [
    { name: 'start', test: /src[\\/]main\.tsx$/, priority: 3 },
    { name: 'frame', test: /src[\\/]shell[\\/]shell\.tsx$/, priority: 2 },
    { name: 'parts', minShareCount: 5, priority: 1 },
  ],
};
