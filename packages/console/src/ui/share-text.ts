export { rateText, shareText } from '@gateway/client/measures';
