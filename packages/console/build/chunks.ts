/**
 * Which modules stand together in one file. A browser gets a kilobyte of header fields with each file, and larger files are
 * compressed better. So what every page needs is few files: the start, the frame of the pages, and what the Overview is
 * made of, which others share. What three others share is one more.
 */
export const chunks = {
  groups: [
    // Else the entry would wait for the start, where it is used as well.
    { name: 'preload', test: /vite[\\/]preload-helper/, priority: 4 },
    { name: 'start', test: /src[\\/]main\.tsx$/, priority: 3 },
    { name: 'frame', test: /src[\\/]shell[\\/]shell\.tsx$/, priority: 2 },
    { name: 'overview', test: /src[\\/]pages[\\/]overview[\\/]overview-page\.tsx$/, priority: 1 },
    { name: 'parts', minShareCount: 3, priority: 0 },
  ],
};
